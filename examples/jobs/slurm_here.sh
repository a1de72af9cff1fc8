#!/bin/sh
# Runs a command in a Slurm of one node on this machine, without munge, to try slurm.sh before it goes to a
# cluster: slurm_here.sh COMMAND…, such as
#
#   SBATCH_WAIT=1 sh slurm_here.sh sh slurm.sh PROMPTS RESULTS --model demo/tour
#
# Needs slurmctld, slurmd and what is submitted with (of Debian: slurmctld, slurmd, slurm-client). CPUS (8) is
# what the node claims to have. It listens on loopback alone; but without munge nobody has to prove who he is,
# so while it runs, every user of this machine can run commands as you. Ends what it started, and returns the
# status of the command; 125 says that there was no Slurm.
set -eu
for program in slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null && continue
  echo "slurm_here.sh: there is no $program" >&2
  exit 125
done
box=$(mktemp -d)
controller='' node=''
stop() {
  for pid in $node $controller; do kill "$pid" 2>/dev/null || :; done
  for pid in $node $controller; do wait "$pid" 2>/dev/null || :; done
}
trap 'stop; rm -rf "$box"' EXIT
trap 'exit 143' HUP INT TERM

user=$(id -un)
export SLURM_CONF="$box/slurm.conf"

# configure writes the settings, with ports that nobody has as far as luck goes.
configure() {
  port=$((10000 + $(od -An -N2 -tu2 /dev/urandom) % 20000))
  cat >"$SLURM_CONF" <<CONF
ClusterName=here
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
StateSaveLocation=$box/state
SlurmdSpoolDir=$box/spool
SlurmctldPidFile=$box/slurmctld.pid
SlurmdPidFile=$box/slurmd.pid
NodeName=here NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=${CPUS:-8} RealMemory=1000000
PartitionName=here Nodes=here Default=YES MaxTime=INFINITE State=UP
CONF
}

# up says whether the node is ready for work.
up() {
  [ "$(timeout 10 sinfo -h -o %t 2>/dev/null)" = idle ]
}

for _ in 1 2 3; do
  mkdir -p "$box/state" "$box/spool"
  configure
  slurmctld -D -i >"$box/slurmctld.log" 2>&1 &
  controller=$!
  slurmd -D -N here >"$box/slurmd.log" 2>&1 &
  node=$!
  while ! up; do
    if ! kill -0 "$controller" 2>/dev/null || ! kill -0 "$node" 2>/dev/null; then
      stop
      continue 2
    fi
    sleep 0.2
  done
  status=0
  "$@" || status=$?
  exit "$status"
done
echo "slurm_here.sh: Slurm does not start:" >&2
tail -n 5 "$box/slurmctld.log" "$box/slurmd.log" >&2
exit 125

return { dangerous = "^rm " }

// Empty does nothing: it shows the cost of any Go program.
package main

func main() {}

from extensor import run

run("quickstart.provider:provider")

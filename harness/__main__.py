"""`python -m harness` is the command `arena`."""

from harness.cli import run

if __name__ == "__main__":
    run()

"""What confines a stranger's process, and such a process as arena sees it.

On the bot's side of the wall: `warden` starts the program and clears up after it, `confine` takes its rights away with
the help of `jail` (files), `landlock`, `seccomp` (whose policy is `system_calls`) and `kernel`. These need no more than
the standard library, and this file imports nothing, so that a process starts quickly; `packages` then finds what is
imported. On arena's side: `process` is a confined process to talk to in lines, `doctor` finds out what this machine can
enforce by running `attempts`. What is said in those lines is none of this package's business: see `harness.protocol`.
"""

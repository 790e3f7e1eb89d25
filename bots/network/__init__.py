"""The network of the bot `learned`: what it reads, how it adds up in whole numbers, and how it was trained."""

"""The version of arena; bumped with every release."""

VERSION = "0.1.0"

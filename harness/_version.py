"""The version of arena; bumped with every release."""

VERSION = "1.0.0"

"""The pages of marking schemes: `reading` looks, `writing` changes."""

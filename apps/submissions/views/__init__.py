"""Pages of submissions: `writing` for authors, `marking` for coaches, `importing` for organisers."""

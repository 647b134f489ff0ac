"""Views for authors (`writing`, `pages`, `transcriptions`), coaches (`marking`) and organisers (`importing`)."""

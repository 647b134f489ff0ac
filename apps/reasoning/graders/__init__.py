"""Model graders: programs like scaffolds (recorded calls, resumable, estimated) that propose points. docs/graders.md"""

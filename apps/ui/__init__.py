"""What pages share: template tags, safe Markdown and formulas, components, typesetting.

Not here: any rule about problems, contests or runs. No models.
"""

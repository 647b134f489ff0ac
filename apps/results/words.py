"""Wording of results for students: about the step, never about the person. `FALLACIES` is also part of hint prompts."""

from apps.reasoning.marking.sheets.sheet import Fallacy, Role

FALLACIES: dict[str, str] = {
    Fallacy.EXAMPLE: "An example is taken for the general case",
    Fallacy.UNVERIFIED: "Something is proposed and not checked",
    Fallacy.INVENTED: "A fact is used that does not hold",
    Fallacy.CIRCULAR: "What is to be shown is used",
    Fallacy.TRIAL: "Found by trial, without a reason that it is all",
    Fallacy.CALCULATION: "A slip in the calculation",
    Fallacy.CONCLUSION: "This does not follow",
    Fallacy.GAP: "A gap",
    Fallacy.CASE: "A case is missing",
    Fallacy.UNCLEAR: "We could not follow",
}
ROLES: dict[str, str] = {
    Role.ROOT: "other errors follow from it",
    Role.CONSEQUENCE: "follows from an earlier error and is not counted again",
    Role.INDEPENDENT: "independent of other errors",
    Role.HARMLESS: "changes nothing",
}

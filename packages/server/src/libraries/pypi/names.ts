/** What may be the name of a project. Source: PyPA, "names and normalization" (PEP 508). */
const NAME = /^(?:[a-z0-9]|[a-z0-9][a-z0-9._-]*[a-z0-9])$/i;
const MAX_NAME_LENGTH = 128;

/** Whether the text is the name of a project, of at most 128 characters. */
export function isProjectName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && NAME.test(text);
}

/**
 * The form in which two names of the same project are equal, such as `my-project` for `My__Project`. Source: PEP 503.
 */
export function normalizedName(name: string): string {
  // Of ASCII alone: the small letter of the Kelvin sign is k, and another name must not become this one.
  return name.replaceAll(/[-_.]+/g, "-").replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

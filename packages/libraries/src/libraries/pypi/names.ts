export { pypiName as normalizedName } from "@moorage/kernel/lib/purls";

/** What may be the name of a project. Source: PyPA, "names and normalization" (PEP 508). */
const NAME = /^(?:[a-z0-9]|[a-z0-9][a-z0-9._-]*[a-z0-9])$/i;
const MAX_NAME_LENGTH = 128;

/** Whether the text is the name of a project, of at most 128 characters. */
export function isProjectName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && NAME.test(text);
}

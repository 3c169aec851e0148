// The forms for machines that the command and the console share: which tokens of CI systems, clusters and clouds an
// identity accepts, out of a few fields that people know.
import { BUILDKITE } from "./buildkite.ts";
import { CIRCLECI } from "./circleci.ts";
import { AWS, AZURE, GOOGLE } from "./clouds.ts";
import { type FormProblem, type FormResult, type FormValues, type MachineForm, Problems, tidy } from "./form.ts";
import { GITHUB } from "./github.ts";
import { GITLAB } from "./gitlab.ts";
import { KUBERNETES } from "./kubernetes.ts";

export type { FormResult, FormValues, MachineField, MachineForm, Snippet } from "./form.ts";
export { type AnyMatch, type Condition, conditionsOf } from "./words.ts";

/** Every form, the likelier first. */
export const MACHINE_FORMS: readonly MachineForm[] = [
  GITHUB,
  GITLAB,
  BUILDKITE,
  CIRCLECI,
  KUBERNETES,
  GOOGLE,
  AZURE,
  AWS,
];

/** The form read: what it makes of the values, or what is wrong with them, and the values as they were read. */
export type ReadForm =
  | { readonly problems: readonly FormProblem[] }
  | { readonly result: FormResult; readonly values: FormValues };

/** Reads what was typed into a form. Values of other forms are not looked at. */
export function readForm(form: MachineForm, typed: FormValues): ReadForm {
  const problems = new Problems();
  const values = tidy(form, typed, problems);
  const result = form.read(values, problems);
  return problems.list.length > 0 ? { problems: problems.list } : { result, values };
}

// What a form for machines is: a few fields that a person knows, and the claim match that they make.

/** A field of a form. Values are texts; those of a `check` are "true" or "". */
export interface MachineField {
  /** Such as `repositoryId`; the command's flag is `--repository-id`. */
  readonly name: string;
  readonly label: string;
  readonly help: string;
  /** Another name of the command's flag, in the same form as `name`. */
  readonly alias?: string;
  readonly kind?: "text" | "check";
  /** The value of a check that nobody touched; every other field begins empty. */
  readonly initial?: "true";
  /** Of a check that is on by itself: what taking it away means. */
  readonly without?: string;
}

/** What was typed into a form, by the names of its fields. Absent is empty. */
export type FormValues = Readonly<Record<string, string | undefined>>;

/** Which tokens an identity accepts, as `claimMatch` of the API's JSON. Patterns are RE2, of the whole value. */
export interface FormMatch {
  readonly issuer: string;
  readonly subject?: string;
  readonly subjectPattern?: string;
  readonly audience?: string;
  readonly claims: Readonly<Record<string, string>>;
  readonly claimPatterns: Readonly<Record<string, string>>;
}

/** What a form makes of its values. */
export interface FormResult {
  readonly match: FormMatch;
  /** Whose tokens are accepted: a sentence without its beginning "Accepts tokens of". */
  readonly accepts: string;
  /** What the person should know before saving: who else may get in. */
  readonly warnings: readonly FormWarning[];
}

/** Who else may get in, in sentences, and the command line that helps against it. */
export interface FormWarning {
  readonly text: string;
  readonly command?: string;
}

/** Why a value cannot be used: a sentence without its subject, such as "must be owner/name". */
export interface FormProblem {
  readonly field: string;
  readonly message: string;
}

/** Where the machine logs in. */
export interface SnippetPlace {
  /** The host[:port] of the registry. */
  readonly registry: string;
  /** The audience that tokens are asked for, where the form names none: the URL of the server. */
  readonly url: string;
  /** The uid of the identity: the user name. */
  readonly identity: string;
  /** The path of the identity's group, such as `acme/team`. */
  readonly group: string;
}

/** Lines to copy. */
export interface Snippet {
  /** Where they belong, such as `.github/workflows/push.yml`. */
  readonly where: string;
  readonly text: string;
}

/** One system whose machines have tokens. */
export interface MachineForm {
  /** Such as `github`: the flag of the command, whose value is that of the first field. */
  readonly name: string;
  readonly title: string;
  /** The first one says whose tokens are meant, and is always required. */
  readonly fields: readonly [MachineField, ...MachineField[]];
  /** Reads values that `tidy` has trimmed. Problems are added to `problems`; then what is returned is not used. */
  read(values: FormValues, problems: Problems): FormResult;
  /** The lines with which such a machine logs in and pushes. The values were read without a problem. */
  snippet(values: FormValues, place: SnippetPlace): Snippet;
}

/** The faults that were found in a form's values, the first one of each field. */
export class Problems {
  readonly list: FormProblem[] = [];

  /** Notes a fault, if the field has none yet. */
  add(field: string, message: string): void {
    if (!this.list.some((problem) => problem.field === field)) this.list.push({ field, message });
  }

  /** The field's value; notes a fault when it is empty, holds a wildcard, or is not of the form. */
  exact(values: FormValues, { name, form, what }: { name: string; form: RegExp; what: string }): string {
    const value = values[name] ?? "";
    if (value === "") this.add(name, `is required: ${what}`);
    else if (value.includes("*")) this.add(name, `must be ${what}; a wildcard would let in what others make`);
    else if (!form.test(value)) this.add(name, `must be ${what}`);
    return value;
  }

  /** As `exact`, for a field that may stay empty: undefined then. */
  optional(values: FormValues, spec: { name: string; form: RegExp; what: string }): string | undefined {
    return values[spec.name] ? this.exact(values, spec) : undefined;
  }
}

const MAX_LENGTH = 512;
// Control characters, and those that turn text around.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const NOT_TEXT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** The values of a form, trimmed; notes those that are no text of one line, or are too long. */
export function tidy(form: MachineForm, values: FormValues, problems: Problems): FormValues {
  const tidied: Record<string, string> = {};
  for (const { name, kind, initial } of form.fields) {
    const value = (values[name] ?? (kind === "check" ? (initial ?? "") : "")).trim();
    if (value.length > MAX_LENGTH) problems.add(name, `must have at most ${MAX_LENGTH} characters`);
    if (NOT_TEXT.test(value)) problems.add(name, "must be text in one line");
    tidied[name] = value;
  }
  return tidied;
}

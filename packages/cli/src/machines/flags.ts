// The forms for machines as flags of `moorage identities create`.
import { type Command, Option } from "commander";
import { type FormValues, MACHINE_FORMS, type MachineField, type MachineForm } from "@moorage/api/machines";
import { UsageFailure } from "../command/failure.ts";
import { completes } from "../command/completion-sources.ts";
import { kebab } from "../resources/flags.ts";

const GROUP = "Forms for machines:";

// Fields that mean something else to each form.
const HELP: Readonly<Record<string, string>> = {
  issuer: "where the system runs at an address of its own, and for --kubernetes and --aws: the URL in the claim iss",
  audience: "for whom the tokens are made (aud); the URL of the server unless given",
};

/** Adds a flag for each form, and for each of their fields. */
export function addFormOptions(command: Command): void {
  for (const { name, title, fields } of MACHINE_FORMS)
    command.addOption(inGroup(new Option(`--${name} <${kebab(fields[0].name)}>`, `${title}: ${fields[0].help}`)));
  for (const { field, forms } of otherFields()) {
    const of = HELP[field.name] ?? `${field.help} (${forms.map((form) => `--${form.name}`).join(", ")})`;
    if (field.kind !== "check") {
      command.addOption(inGroup(new Option(`${flagOf(field)} <text>`, of)));
      if (field.alias !== undefined) command.addOption(new Option(`--${kebab(field.alias)} <text>`).hideHelp());
    } else if (field.initial === undefined) command.addOption(inGroup(new Option(flagOf(field), of)));
    else
      command.addOption(
        inGroup(
          new Option(
            `--no-${kebab(field.name)}`,
            `${field.without ?? field.help} (${forms.map((form) => `--${form.name}`).join(", ")})`,
          ),
        ),
      );
  }
  command.addOption(
    inGroup(
      completes(new Option("--role <role>", "the role that it gets on the group, such as registry.push"), "role"),
    ),
  );
}

function inGroup(option: Option): Option {
  return option.helpGroup(GROUP);
}

function flagOf({ name }: MachineField): string {
  return `--${kebab(name)}`;
}

interface SharedField {
  field: MachineField;
  forms: readonly MachineForm[];
}

/** The fields behind the first of each form, each name once. */
function otherFields(): SharedField[] {
  const byName = new Map<string, { field: MachineField; forms: MachineForm[] }>();
  for (const form of MACHINE_FORMS)
    for (const field of form.fields.slice(1)) {
      const known = byName.get(field.name) ?? { field, forms: [] };
      const alias = known.field.alias ?? field.alias;
      const shared = alias === undefined ? known.field : { ...known.field, alias };
      byName.set(field.name, { field: shared, forms: [...known.forms, form] });
    }
  return [...byName.values()];
}

/** The form that was named by its flag, with what was typed into it. */
export interface Typed {
  form: MachineForm;
  values: FormValues;
}

/** What the flags say of a form; undefined when none was named. Throws a UsageFailure for flags that do not fit. */
export function typedIn(flags: Readonly<Record<string, unknown>>): Typed | undefined {
  const named = MACHINE_FORMS.filter(({ name }) => flags[name] !== undefined);
  const [form, second] = named;
  if (form !== undefined && second !== undefined)
    throw new UsageFailure(`--${form.name} and --${second.name} exclude each other: make an identity for each`);
  const given = otherFields().flatMap(({ field, forms }) => {
    const value = valueOf(flags, field);
    return value === undefined ? [] : [{ field, forms, value }];
  });
  if (form === undefined) {
    const stray = given[0] ? flagOf(given[0].field) : flags["role"] === undefined ? undefined : "--role";
    if (stray === undefined) return undefined;
    throw new UsageFailure("belongs to a form for machines", {
      field: stray,
      hint: `name one: ${MACHINE_FORMS.map(({ name }) => `--${name}`).join(", ")}`,
    });
  }
  const [first, ...others] = form.fields;
  for (const { field, forms } of given)
    if (!forms.includes(form))
      throw new UsageFailure(`does not belong to --${form.name}`, {
        field: flagOf(field),
        hint: `that takes ${others.map(flagOf).join(", ")}`,
      });
  return {
    form,
    values: {
      [first.name]: String(flags[form.name]),
      ...Object.fromEntries(given.map(({ field, value }) => [field.name, value])),
    },
  };
}

/** The flag of a form's field, for messages. */
export function fieldFlag(form: MachineForm, name: string): string {
  return form.fields[0].name === name ? `--${form.name}` : `--${kebab(name)}`;
}

/** What was given for a field; undefined when nothing was. */
function valueOf(
  flags: Readonly<Record<string, unknown>>,
  { name, alias, kind, initial }: MachineField,
): string | undefined {
  const value = flags[name] ?? (alias === undefined ? undefined : flags[alias]);
  if (kind !== "check") return value === undefined ? undefined : String(value);
  // What is on by itself was given when it was taken away.
  if (initial !== undefined) return value === false ? "" : undefined;
  return value === true ? "true" : undefined;
}

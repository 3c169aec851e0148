import { type FormValues, MACHINE_FORMS, type MachineForm, readForm } from "@moorage/api/machines";
import { call } from "../../api/call.ts";
import { ApiError } from "../../api/errors.ts";
import { createIdentity, createRoleBinding, deleteIdentity, type Identity, listRoles } from "../../api/gen/iam.ts";
import { sayIssuerFault } from "./identity-check.ts";
import { newIdentityForm } from "./identity-forms.ts";
import { MachineRoleCards, OTHER, SystemCards } from "./machine-cards.tsx";
import { MatchPreview } from "./match-preview.tsx";
import type { FieldSpec, FormSpec, Values } from "./parts/resource.ts";

/** A machine that was made, and what is needed to show how it logs in. */
export interface MadeMachine {
  identity: Identity;
  /** Undefined for one that was described by claims or keys. */
  form?: MachineForm;
  values: FormValues;
}

/** Fields that the systems' own services need no answer to: asked for only on demand, or where they are required. */
const RARE = ["issuer", "audience"];
/** The name of the field that says that they are asked for. */
const UNUSUAL = "unusual";

/** Makes a machine in the group: by the form of its system, or by claims and keys as they are. */
export function newMachineForm(group: string): FormSpec<MadeMachine> {
  const raw = newIdentityForm(group);
  const [name, description, ...rawFields] = raw.fields;
  const system: FieldSpec = {
    name: "system",
    label: "Where it runs",
    render: (field) => <SystemCards {...field} />,
    initial: MACHINE_FORMS[0]?.name ?? OTHER,
  };
  const others = rawFields.map((field): FieldSpec => ({
    ...field,
    when: (values) => values["system"] === OTHER && (field.when?.(values) ?? true),
  }));
  const role: FieldSpec = {
    name: "role",
    label: "Role",
    render: (field) => <MachineRoleCards {...field} group={group} />,
    initial: "registry.push",
  };
  return {
    title: "New machine",
    action: "Create",
    fields: [
      system,
      ...(name ? [name] : []),
      ...MACHINE_FORMS.flatMap((form) => [...fieldsOf(form, false), ...unusualOf(form), ...fieldsOf(form, true)]),
      ...others,
      role,
      ...(description ? [description] : []),
    ],
    preview: (values) => <MatchPreview {...readOf(values)} />,
    send: async (values) => {
      const form = formOf(values);
      const roleUid = values["role"] ? await roleNamed(values["role"]) : undefined;
      const made = form === undefined ? await raw.send(values) : await makeBy(group, form, values);
      const identity = made as Identity;
      if (roleUid !== undefined) await bind(group, identity, roleUid);
      return { identity, values: form === undefined ? {} : typedIn(form, values), ...(form && { form }) };
    },
  };
}

const formOf = ({ system }: Values): MachineForm | undefined => MACHINE_FORMS.find(({ name }) => name === system);

/** Fields of several forms may have one name. */
const nameIn = (form: MachineForm, field: string): string => `${form.name}-${field}`;

/** The question whether the rare fields of a form are needed. */
function unusualOf(form: MachineForm): FieldSpec[] {
  const rare = rareFields(form);
  if (rare.length === 0) return [];
  return [
    {
      name: UNUSUAL,
      label: `A different ${rare.join(" or ")}`,
      help: "For your own server, or for tokens that are also issued for others",
      kind: "check",
      when: ({ system }) => system === form.name,
    },
  ];
}

/** The fields that the form does not show until somebody asks for them: rare ones without which it can be read. */
function rareFields(form: MachineForm): string[] {
  const read = readForm(form, {});
  const required = "problems" in read ? read.problems.map(({ field }) => field) : [];
  return form.fields.map(({ name }) => name).filter((name) => RARE.includes(name) && !required.includes(name));
}

function fieldsOf(form: MachineForm, isRare: boolean): FieldSpec[] {
  const rare = rareFields(form);
  return form.fields
    .filter(({ name }) => rare.includes(name) === isRare)
    .map(({ name, label, help, kind = "text", initial = "" }) => ({
      name: nameIn(form, name),
      label,
      // As it is: it may begin with a value.
      help,
      kind,
      initial,
      when: (values) => values["system"] === form.name && (!isRare || values[UNUSUAL] === "true"),
    }));
}

/** What was typed into the fields that are shown. */
function typedIn(form: MachineForm, values: Values): FormValues {
  const hidden = values[UNUSUAL] === "true" ? [] : rareFields(form);
  return Object.fromEntries(
    form.fields.map(({ name }) => [name, hidden.includes(name) ? "" : (values[nameIn(form, name)] ?? "")]),
  );
}

function readOf(values: Values) {
  const form = formOf(values);
  const read = form && readForm(form, typedIn(form, values));
  return read && "result" in read ? { result: read.result } : {};
}

async function makeBy(group: string, form: MachineForm, values: Values): Promise<Identity> {
  const read = readForm(form, typedIn(form, values));
  if ("problems" in read)
    throw new ApiError(400, {
      code: "INVALID_ARGUMENT",
      message: "Some fields need to be corrected.",
      violations: read.problems.map(({ field, message }) => ({ field: nameIn(form, field), description: message })),
    });
  const { name = "", description = "" } = values;
  const { match } = read.result;
  const identity = await call(createIdentity, { parent: group, identity: { name, description, claimMatch: match } });
  void sayIssuerFault(identity);
  return identity;
}

async function roleNamed(name: string): Promise<string> {
  const { roles } = await call(listRoles, { name, uidp: { inRoot: true }, pageSize: 1 });
  const [role] = roles;
  if (role === undefined) throw new Error(`You cannot see the role ${name}.`);
  return role.uid;
}

/** Gives the machine its role, or takes it away again. */
async function bind(group: string, { uid }: Identity, roleUid: string): Promise<void> {
  try {
    await call(createRoleBinding, { parent: group, roleBinding: { identityUid: uid, roleUid } });
  } catch (error) {
    await call(deleteIdentity, { uid }).catch(() => undefined);
    throw error;
  }
}

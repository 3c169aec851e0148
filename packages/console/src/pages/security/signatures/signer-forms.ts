import { call } from "../../../api/call.ts";
import { createSigner, type Signer, type SignerInput, updateSigner } from "../../../api/gen/registry.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";

const KEYS = "keys";
const IDENTITY = "keyless";
const isKeys = (values: Values): boolean => values["by"] === KEYS;
const isIdentity = (values: Values): boolean => values["by"] === IDENTITY;

/** Says who signs the images of a group and of all groups below it. */
export function newSignerForm(parent: string): FormSpec<Signer> {
  return {
    title: "New signer",
    action: "Create",
    description: "It signs the images of the group and of all groups below. What is signed already is verified soon.",
    fields: [
      { name: "name", label: "Name", help: "Such as release" },
      {
        name: "by",
        label: "Known by",
        kind: "options",
        options: [
          [KEYS, "A public key"],
          [IDENTITY, "An identity of a CI or a person (Fulcio)"],
        ],
        initial: KEYS,
      },
      {
        name: "pem",
        label: "Public key",
        kind: "lines",
        when: isKeys,
        help: "In PEM, such as cosign.pub. Never the private key.",
      },
      { ...heldBefore(), when: isKeys },
      {
        name: "issuer",
        label: "Issuer",
        when: isIdentity,
        initial: "https://token.actions.githubusercontent.com",
      },
      { name: "subject", label: "Subject", when: isIdentity, help: "A URI or an e-mail address, as a whole" },
      {
        name: "subjectPattern",
        label: "Or a pattern of it",
        when: isIdentity,
        help: "RE2, which the whole subject must match",
      },
      { name: "description", label: "Who it is" },
    ],
    send: (values) => call(createSigner, { parent, signer: { name: values["name"] ?? "", ...inputOf(values) } }),
  };
}

/** Changes what is said of a signer, and whose word counts. */
export function editSignerForm(signer: Signer): FormSpec<Signer> {
  const isByKeys = signer.keyless === undefined;
  return {
    title: `Edit ${signer.name}`,
    action: "Save",
    fields: [
      { name: "description", label: "Who it is", initial: signer.description },
      ...(isByKeys ? [heldBefore(signer)] : []),
    ],
    send: ({ description = "", heldBefore: held = "" }) =>
      call(updateSigner, {
        signer: {
          uid: signer.uid,
          description,
          ...(isByKeys && { times: held === "true" ? ["SIGNATURE_TIME_REGISTRY"] : [] }),
        },
        updateMask: isByKeys ? "description,times" : "description",
      }),
  };
}

/** Adds a key to a signer: signatures by the old ones stay what they are. */
export function newKeyForm(signer: Signer): FormSpec<Signer> {
  return {
    title: `New key of ${signer.name}`,
    action: "Add key",
    description: "Sign with the new key, and end the old one when nothing is signed with it any longer.",
    fields: [{ name: "pem", label: "Public key", kind: "lines", help: "In PEM. Never the private key." }],
    send: ({ pem = "" }) =>
      call(updateSigner, { signer: { uid: signer.uid, keys: [...signer.keys, { pem }] }, updateMask: "keys" }),
  };
}

/** What can be said of the end of a key. */
export type KeyEnd = "notAfter" | "revokeTime";

/** Ends a key of a signer now, or says that somebody else may have it from now on. */
export async function endKey(signer: Signer, fingerprint: string, end: KeyEnd): Promise<void> {
  const now = new Date().toISOString();
  const keys = signer.keys.map((key) => (key.fingerprint === fingerprint ? { ...key, [end]: now } : key));
  await call(updateSigner, { signer: { uid: signer.uid, keys }, updateMask: "keys" });
}

function heldBefore(signer?: Signer): FieldSpec {
  return {
    name: "heldBefore",
    label: "Signatures that this registry held before a key ended still count",
    kind: "check",
    initial: signer?.times.includes("SIGNATURE_TIME_REGISTRY") === true ? "true" : "",
  };
}

function inputOf(values: Values): SignerInput {
  const { description = "", pem = "", issuer = "", subject = "", subjectPattern = "" } = values;
  if (isIdentity(values)) return { description, keyless: { issuer, subject, subjectPattern } };
  return {
    description,
    keys: [{ pem }],
    ...(values["heldBefore"] === "true" && { times: ["SIGNATURE_TIME_REGISTRY"] }),
  };
}

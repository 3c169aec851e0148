import { call } from "../../../api/call.ts";
import { createSigner, type Signer, type SignerInput, updateSigner } from "../../../api/gen/registry.ts";
import { parentUid } from "../../../lib/uid.ts";
import type { FieldSpec, FormSpec, Values } from "../../access/parts/resource.ts";
import { RootChoice } from "./roots/root-choice.tsx";

const KEYS = "keys";
const IDENTITY = "keyless";
const CERTIFICATES = "x509";
const isCertificates = (values: Values): boolean => values["by"] === CERTIFICATES;
const isKeys = (values: Values): boolean => values["by"] === KEYS;
const isIdentity = (values: Values): boolean => values["by"] === IDENTITY;

/** Says who signs the images of a group and of all groups below it. */
export function newSignerForm(parent: string): FormSpec<Signer> {
  return {
    title: "New signer",
    action: "Create",
    description: "It signs images of the group and all groups below. Existing signatures are verified soon.",
    fields: [
      { name: "name", label: "Name", help: "Such as release" },
      {
        name: "by",
        label: "Known by",
        kind: "options",
        options: [
          [KEYS, "A public key"],
          [IDENTITY, "An identity of a CI or a person (Fulcio)"],
          [CERTIFICATES, "Certificates of an authority (Notation)"],
        ],
        initial: KEYS,
      },
      {
        name: "pem",
        label: "Public key",
        kind: "lines",
        when: isKeys,
        help: "PEM, such as cosign.pub. Never the private key.",
      },
      { ...heldBefore(), when: isKeys },
      {
        name: "issuer",
        label: "Issuer",
        when: isIdentity,
        initial: "https://token.actions.githubusercontent.com",
      },
      { name: "subject", label: "Subject", when: isIdentity, help: "A complete URI or email address" },
      {
        name: "subjectPattern",
        label: "Or a pattern of it",
        when: isIdentity,
        help: "An RE2 pattern that must match the whole subject",
      },
      { ...trustRootField(parent), when: isIdentity },
      ...CERTIFICATE_FIELDS,
      { name: "description", label: "Who it is" },
    ],
    send: (values) => call(createSigner, { parent, signer: { name: values["name"] ?? "", ...inputOf(values) } }),
  };
}

/** Changes what is said of a signer, and whose word counts. */
export function editSignerForm(signer: Signer): FormSpec<Signer> {
  const { uid, keyless } = signer;
  const isByKeys = keyless === undefined && signer.x509 === undefined;
  return {
    title: `Edit ${signer.name}`,
    action: "Save",
    fields: [
      { name: "description", label: "Who it is", initial: signer.description },
      ...(isByKeys ? [heldBefore(signer)] : []),
      ...(keyless === undefined ? [] : [trustRootField(parentUid(uid), keyless.trustRoot)]),
    ],
    send: ({ description = "", heldBefore: held = "", trustRoot = "" }) =>
      call(updateSigner, {
        signer: {
          uid,
          description,
          ...(isByKeys && { times: held === "true" ? ["SIGNATURE_TIME_REGISTRY"] : [] }),
          ...(keyless !== undefined && { keyless: { ...keyless, trustRoot } }),
        },
        updateMask: [
          "description",
          ...(isByKeys ? ["times"] : []),
          ...(keyless === undefined ? [] : ["keyless"]),
        ].join(),
      }),
  };
}

/** Adds a key to a signer: signatures by the old ones stay what they are. */
export function newKeyForm(signer: Signer): FormSpec<Signer> {
  return {
    title: `New key of ${signer.name}`,
    action: "Add key",
    description: "Sign with the new key, and end the old one when nothing uses it any longer.",
    fields: [{ name: "pem", label: "Public key", kind: "lines", help: "PEM. Never the private key." }],
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

const CERTIFICATE_FIELDS: readonly FieldSpec[] = [
  {
    name: "roots",
    label: "Certificates of the authorities",
    kind: "lines",
    when: isCertificates,
    help: "PEM, one after another",
  },
  {
    name: "identities",
    label: "Whose certificates",
    kind: "lines",
    when: isCertificates,
    help: "One a line, such as x509.subject: C=US, ST=WA, O=acme, CN=release; or * for all",
  },
  {
    name: "tsaRoots",
    label: "Certificates of time-stamping authorities",
    kind: "lines",
    when: isCertificates,
    help: "PEM. Without them, a signature is valid only as long as its certificate.",
  },
];

function trustRootField(group: string, initial = ""): FieldSpec {
  return {
    name: "trustRoot",
    label: "Trust root",
    initial,
    render: (field) => <RootChoice {...field} group={group} />,
  };
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
  const { description = "", pem = "", issuer = "", subject = "", subjectPattern = "", trustRoot = "" } = values;
  if (isIdentity(values)) return { description, keyless: { issuer, subject, subjectPattern, trustRoot } };
  if (isCertificates(values)) {
    const { roots = "", tsaRoots = "", identities = "" } = values;
    const x509 = { roots: pemsIn(roots), tsaRoots: pemsIn(tsaRoots), identities: linesIn(identities) };
    return { description, x509 };
  }
  return {
    description,
    keys: [{ pem }],
    ...(values["heldBefore"] === "true" && { times: ["SIGNATURE_TIME_REGISTRY"] }),
  };
}

function linesIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

const END = "-----END CERTIFICATE-----";

/** The certificates in a text, each up to its end; what follows the last one is one, too, so that it is not ignored. */
function pemsIn(text: string): string[] {
  return text
    .split(END)
    .map((part, at, all) => (at < all.length - 1 ? `${part.trim()}\n${END}\n` : part.trim()))
    .filter((part) => part !== "");
}

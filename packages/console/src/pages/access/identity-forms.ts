import { call } from "../../api/call.ts";
import { createIdentity, type Identity, type IdentityInput, updateIdentity } from "../../api/gen/iam.ts";
import { sayIssuerFault } from "./identity-check.ts";
import { fromLines, toLines } from "./parts/lines.ts";
import type { FieldSpec, FormSpec, Values } from "./parts/resource.ts";

const KINDS = [
  ["claims", "Tokens of an OpenID Connect issuer (CI jobs)"],
  ["keys", "Tokens signed with its own keys"],
  ["none", "Not assumed by other tokens"],
] as const;
const byClaims = ({ kind }: Values): boolean => kind === "claims";
const byKeys = ({ kind }: Values): boolean => kind === "keys";
const either = ({ kind }: Values): boolean => kind !== "none";

/** Makes an identity in the group. */
export function newIdentityForm(group: string): FormSpec<Identity> {
  return {
    title: "New identity",
    action: "Create",
    description: "It cannot do anything until it is given a role.",
    fields: fieldsOf(),
    send: (values) => checked(call(createIdentity, { parent: group, identity: inputOf(values) })),
  };
}

/** Changes an identity. Keys are kept where no others are given. */
export function editIdentityForm(identity: Identity): FormSpec<Identity> {
  const { uid, name } = identity;
  return {
    title: `Edit identity ${name}`,
    action: "Save",
    fields: fieldsOf(identity),
    send: (values) => {
      const input = inputOf(values, identity);
      const how = input.claimMatch ? ",claimMatch" : input.staticKeys?.issuerKeys ? ",staticKeys" : "";
      const saved = call(updateIdentity, { identity: { uid, ...input }, updateMask: `name,description${how}` });
      return input.claimMatch ? checked(saved) : saved;
    },
  };
}

/** The form is done when the identity is saved; what its issuer answers is said when it is known. */
async function checked(saved: Promise<Identity>): Promise<Identity> {
  const identity = await saved;
  void sayIssuerFault(identity);
  return identity;
}

function fieldsOf(identity?: Identity): FieldSpec[] {
  const { claimMatch, staticKeys } = identity ?? {};
  const kind = identity === undefined || claimMatch ? "claims" : staticKeys ? "keys" : "none";
  // How an identity is assumed stays: another way is another identity.
  const options = KINDS.filter(([value]) => identity === undefined || value === kind);
  return [
    { name: "name", label: "Name", help: "a-z, 0-9, space, dot, dash, underscore", initial: identity?.name ?? "" },
    { name: "description", label: "Description", initial: identity?.description ?? "" },
    { name: "kind", label: "Assumed by", kind: "options", options, initial: kind },
    {
      name: "issuer",
      label: "Issuer",
      when: either,
      help: "The claim iss, such as https://token.actions.githubusercontent.com",
      initial: claimMatch?.issuer ?? staticKeys?.issuer ?? "",
    },
    {
      name: "subject",
      label: "Subject",
      when: either,
      help: "The claim sub, such as repo:acme/app:ref:refs/heads/main",
      initial: claimMatch?.subject ?? staticKeys?.subject ?? "",
    },
    {
      name: "subjectPattern",
      label: "Subject by pattern",
      when: byClaims,
      help: "Instead of the subject: a regular expression that matches all of it, such as repo:acme/app:.*",
      initial: claimMatch?.subjectPattern ?? "",
    },
    {
      name: "audience",
      label: "Audience",
      when: byClaims,
      help: "The claim aud; empty for the address of this server",
      initial: claimMatch?.audience ?? "",
    },
    {
      name: "claims",
      label: "Further claims",
      kind: "lines",
      when: byClaims,
      help: "One per line: ref=refs/heads/main",
      initial: toLines(claimMatch?.claims ?? {}),
    },
    {
      name: "issuerKeys",
      label: "Public keys",
      kind: "lines",
      when: byKeys,
      help: identity === undefined ? "A JWKS document" : "A JWKS document; empty keeps the keys there are",
    },
  ];
}

/** The identity that the form describes; what the form does not show stays as `before` has it. */
function inputOf(values: Values, before?: Identity): IdentityInput {
  const { name = "", description = "", kind, issuer = "", subject = "", subjectPattern = "", audience = "" } = values;
  if (kind === "keys") {
    const audiences = before?.staticKeys?.audiences ?? [];
    return { name, description, staticKeys: { issuer, subject, issuerKeys: values["issuerKeys"] ?? "", audiences } };
  }
  if (kind !== "claims") return { name, description };
  const { issuerPattern, audiencePattern, claimPatterns = {} } = before?.claimMatch ?? {};
  return {
    name,
    description,
    claimMatch: {
      ...(issuer === "" && issuerPattern !== undefined ? { issuerPattern } : { issuer }),
      ...(subjectPattern === "" ? { subject } : { subjectPattern }),
      ...(audience !== "" ? { audience } : audiencePattern !== undefined && { audiencePattern }),
      claims: fromLines(values["claims"] ?? ""),
      claimPatterns,
    },
  };
}

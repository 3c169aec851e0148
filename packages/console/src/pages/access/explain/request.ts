import type { ExplainAccessRequest, RegistryAction } from "../../../api/gen/iam.ts";

/** A question as it stands in the address. */
export interface Question {
  /** An identity's uid, ANYBODY or TOKEN. */
  identity?: string;
  /** `pull`, `push`, `delete` or `method`. */
  action?: string;
  /** An image, or a uid. */
  resource?: string;
  method?: string;
  /** Claims of a token of another issuer. */
  issuer?: string;
  subject?: string;
  /** All other claims, as JSON. */
  claims?: string;
}

/** Whoever has no token. */
export const ANYBODY = "anybody";
/** Whoever has a token of another issuer with the claims of the question. */
export const TOKEN = "token";

const ACTIONS: Readonly<Record<string, RegistryAction>> = {
  pull: "REGISTRY_ACTION_PULL",
  push: "REGISTRY_ACTION_PUSH",
  delete: "REGISTRY_ACTION_DELETE",
};

/** The request that the question is; undefined while it is not whole. */
export function requestOf(question: Question): ExplainAccessRequest | undefined {
  const { identity = "", action = "pull", resource = "", method = "" } = question;
  const who = whoOf(identity, question);
  if (who === undefined) return undefined;
  if (action === "method") return method === "" ? undefined : { ...who, method, resource };
  const known = ACTIONS[action];
  return known === undefined || resource === "" ? undefined : { ...who, action: known, resource };
}

function whoOf(
  identity: string,
  { issuer = "", subject = "", claims = "" }: Question,
): ExplainAccessRequest | undefined {
  if (identity === "") return undefined;
  if (identity === ANYBODY) return { anonymous: true };
  if (identity !== TOKEN) return { identity };
  return issuer === "" ? undefined : { claims: { issuer, subject, ...(claims !== "" && { claims }) } };
}

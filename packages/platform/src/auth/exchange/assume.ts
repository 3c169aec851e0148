import type { Caller, CallData } from "@moorage/kernel/core/call";
import { withAuditReason } from "../audit.ts";
import { type Jwt, rejection } from "../tokens/jwt.ts";
import { type AcceptDeps, acceptingIdentity, type Asked } from "./accept.ts";
import { actClaims, MAX_ACT_LENGTH, MAX_PERSON_ACT_LENGTH } from "./act-claims.ts";
import { endOf } from "../../iam/index.ts";
import { findIdentity, type IdentityRow } from "./identity-rows.ts";
import { kindRejection, lengthRejection, rejectionError } from "./rejections.ts";
import { type ProviderExchangeDeps, type ProviderRequest, signInByToken } from "./provider.ts";

export interface AssumeDeps extends AcceptDeps, ProviderExchangeDeps {}

/** The identity that an external token assumes, with what our token carries of the external one. */
export interface Assumed extends Pick<Caller, "act" | "external"> {
  row: IdentityRow;
  /** When the identity stops accepting such tokens, in milliseconds since 1970; Infinity when nothing is set. */
  end: number;
}

/** `identityProvider`: the one that the request names, or "". At most one of it and `identity` is not empty. */
export interface Requested extends Asked {
  identityProvider: string;
}

/**
 * Finds the identity that the external token assumes. A token of an identity provider signs its person in, whether the
 * request names the provider, the person's identity or neither. Throws as `acceptingIdentity` and `signInByToken` do.
 */
export async function assumeIdentity(
  deps: AssumeDeps,
  jwt: Jwt,
  requested: Requested,
  data: CallData,
): Promise<Assumed> {
  const { identity, identityProvider } = requested;
  const unfit = lengthRejection(jwt) ?? kindRejection(jwt);
  const called = {
    ...(identity !== "" && { identity }),
    ...(identityProvider !== "" && { identityProvider }),
  };
  if (unfit)
    throw withAuditReason(rejectionError(unfit, jwt, called), { ...unfit, identity: identity || identityProvider });
  if (identityProvider !== "")
    return assumePerson(deps, jwt, { provider: identityProvider, named: { identityProvider } }, data);
  const { row, relationship } = await acceptingIdentity(deps, jwt, requested, data);
  if (row.provider === "") return { row, end: endOf(relationship), act: actClaims(jwt.claims, MAX_ACT_LENGTH) };
  const named = identity === "" ? {} : { identity };
  return assumePerson(deps, jwt, { provider: row.provider, named, subject: row.subject }, data);
}

async function assumePerson(deps: AssumeDeps, jwt: Jwt, request: ProviderRequest, data: CallData): Promise<Assumed> {
  const { identity, external } = await signInByToken(deps, jwt, request, data);
  const row = await findIdentity(deps.reader, identity);
  if (!row) throw rejection();
  return { row, end: Infinity, act: actClaims(jwt.claims, MAX_PERSON_ACT_LENGTH), ...(external && { external }) };
}

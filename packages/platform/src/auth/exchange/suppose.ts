import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { Database } from "@moorage/kernel/store";
import { providerOf } from "../../iam/index.ts";
import type { Jwt } from "../tokens/jwt.ts";
import { acceptingIdentity, type AcceptOptions } from "./accept.ts";
import { findIdentity, type IdentityRow } from "./identity-rows.ts";
import { createPatternBudgets } from "./pattern-budget.ts";
import { judge } from "./provider.ts";
import { kindRejection, lengthRejection, rejectionError } from "./rejections.ts";

/** The claims of a token that somebody asks about, and what the request with it would name. */
export interface Supposed {
  claims: Readonly<Record<string, unknown>>;
  /** The identity that the request names, or "". */
  identity: string;
  /** The names of the organizations whose images the token would be for. */
  organizations: readonly string[];
}

export interface SupposeDeps {
  reader: Database;
  baseUrl: string;
}

const GOOD = { verify: async () => undefined, byCachedKeys: async () => true };
const NO_LOG = { info: () => undefined };
const patterns = createPatternBudgets();

/**
 * The caller that a token of another issuer with these claims would be exchanged for, if its issuer had signed it.
 * Nothing is issued, written, logged or fetched. `considers`: the identities that may be answered or spoken of. Throws
 * as `acceptingIdentity` does.
 */
export async function supposeExchange(
  { reader, baseUrl }: SupposeDeps,
  { claims, identity, organizations }: Supposed,
  considers: NonNullable<AcceptOptions["considers"]>,
  data: CallData,
): Promise<Caller> {
  const jwt: Jwt = { token: "", header: {}, claims };
  const unfit = lengthRejection(jwt) ?? kindRejection(jwt);
  if (unfit) throw rejectionError(unfit, jwt, {});
  const external = { verify: async () => undefined, isSigned: async () => true };
  const { row } = await acceptingIdentity(
    { config: { baseUrl }, reader, external, patterns, log: NO_LOG },
    jwt,
    { identity, scopes: [], organizations },
    data,
    { signature: { of: () => GOOD }, considers },
  );
  if (row.provider === "") return { identity: row.uid };
  const provider = await providerOf(reader, row.provider);
  if (provider === undefined) return { identity: row.uid };
  const judged = await judge(
    { external },
    jwt,
    provider,
    { provider: provider.uid, named: {}, subject: row.subject },
    data.nowMs,
  );
  if ("reason" in judged) throw rejectionError(judged, jwt, {});
  return { identity: row.uid, ...membership(provider.uid, judged.groups, data.nowMs) };
}

/** The groups at the identity provider that a person's token states, as its caller has them. */
export function membership(provider: string, groups: string[], nowMs: number): Pick<Caller, "external"> {
  return groups.length === 0 ? {} : { external: { provider, groups, untilMs: nowMs + 1 } };
}

/** Of an identity that can be assumed: its identity provider, "" for none. Undefined for others. */
export async function usableIdentity(
  reader: Database,
  uid: string,
): Promise<Pick<IdentityRow, "provider"> | undefined> {
  return findIdentity(reader, uid);
}

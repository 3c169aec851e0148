import type { Caller, CallData } from "@moorage/kernel/core/call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { type Person, personOf, type Provider, providerOf, signIn, subjectClaim } from "../../iam/index.ts";
import { withAuditReason } from "../audit.ts";
import type { ExternalVerifier } from "./issuer-keys.ts";
import { audiencesOf, type Jwt, timeFault } from "../tokens/jwt.ts";
import { keysRejected, loggedClaims, loggedValue, type Named, notAccepted, rejectionError } from "./rejections.ts";
import type { TokenRejection } from "../token-rejection.ts";

export interface ProviderExchangeDeps {
  reader: Database;
  writer: CommandWriter;
  external: ExternalVerifier;
  log: { info(fields: object, message: string): void };
}

/**
 * The identity provider's uid, what the client named (for the text of a rejection) and, when an identity was named, the
 * subject that the token must have.
 */
export interface ProviderRequest {
  provider: string;
  named: Named;
  subject?: string;
}

/**
 * Signs in the person of an ID token, as a browser sign-in would: the person's identity is created when it does not
 * exist yet. A nonce is not required: it ties a token to a sign-in that began at this server, which this one did not.
 * Tokens that were issued for other services are kept out by their audience, which must be the provider's client.
 *
 * Throws what `rejectionError` makes, and UNAVAILABLE when the issuer cannot be asked for its keys. A provider that
 * does not exist, one with another issuer and one with another client get the same answer, and no keys are fetched for
 * them.
 */
export async function signInByToken(
  deps: ProviderExchangeDeps,
  jwt: Jwt,
  request: ProviderRequest,
  data: CallData,
): Promise<Pick<Caller, "identity" | "external">> {
  const provider = await providerOf(deps.reader, request.provider);
  const judged =
    provider === undefined
      ? notAccepted("there is no such identity provider")
      : await judge(deps, jwt, provider, request, data.nowMs);
  if (provider === undefined || "reason" in judged) {
    const rejected = "reason" in judged ? judged : notAccepted("there is no such identity provider");
    deps.log.info(
      {
        requestId: data.requestId,
        ...rejected,
        identityProvider: request.provider,
        ...loggedClaims(jwt),
        value: loggedValue(jwt, rejected.claim),
      },
      "token exchange refused",
    );
    throw withAuditReason(rejectionError(rejected, jwt, request.named), { ...rejected, identity: request.provider });
  }
  const { uid, issuer, clientId } = provider;
  const { identity, external, groupsLeftOut } = await deps.writer.write(signIn, data, {
    provider: uid,
    issuer,
    clientId,
    groupsUntilMs: Number(jwt.claims["exp"]) * 1000,
    ...judged,
  });
  if (groupsLeftOut !== "")
    deps.log.info(
      { requestId: data.requestId, identity, identityProvider: uid, groupsLeftOut },
      "groups were left out of a sign-in",
    );
  return { identity, ...(external && { external }) };
}

/** The person of whom the token of the provider speaks, or why it is not accepted. Throws when no keys are answered. */
export async function judge(
  { external }: { external: Pick<ExternalVerifier, "verify"> },
  jwt: Jwt,
  provider: Provider,
  { subject }: ProviderRequest,
  nowMs: number,
): Promise<Person | TokenRejection> {
  const { claims, header } = jwt;
  if (claims["iss"] !== provider.issuer) return notAccepted("the provider has another issuer");
  if (!isFor(claims, provider.clientId)) return notAccepted("the token was not issued for the provider's client");
  try {
    await external.verify(jwt, nowMs, organizationOf(provider.uid));
  } catch (error) {
    if (!(error instanceof MoorageError) || error.code !== Code.Unauthenticated) throw error;
    return keysRejected(error);
  }
  const type = header["typ"];
  if (type !== undefined && String(type).toUpperCase() !== "JWT") return notAccepted("the token is no ID token");
  const time = timeFault(claims, nowMs);
  if (time !== undefined)
    return { reason: time === "exp" ? "EXPIRED" : "NOT_YET_VALID", claim: time, why: "the token is not good now" };
  if (claims["iat"] === undefined) return { reason: "CLAIM", claim: "iat", why: "the token is no ID token" };
  const person = personOf(provider, claims);
  if (person === undefined)
    return { reason: "CLAIM", claim: subjectClaim(provider), why: "the token does not say who it speaks of" };
  return subject === undefined || person.subject === subject
    ? person
    : notAccepted("the token speaks of another person");
}

/**
 * Whether the token was issued for the client: it is among the audiences, and the authorized party where one is named.
 * Source: OpenID Connect Core 1.0 §3.1.3.7, 3 and 4.
 */
function isFor(claims: Record<string, unknown>, clientId: string): boolean {
  const party = claims["azp"];
  return audiencesOf(claims).includes(clientId) && (party === undefined || party === clientId);
}

import type { Caller, CallData } from "../../core/call.ts";
import { Code, MoorageError } from "../../errors.ts";
import { type Person, personOf, type Provider, providerOf, signIn, subjectClaim } from "../../iam/index.ts";
import type { Database } from "../../store/index.ts";
import { withTruth } from "../audit.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import type { ExternalVerifier } from "./issuer-keys.ts";
import { audiencesOf, type Jwt, timeFault } from "../tokens/jwt.ts";
import { loggedClaims, loggedValue, type Named, refusedAnswer, type Refused } from "./rejections.ts";

export interface ProviderExchangeDeps {
  reader: Database;
  writer: CommandWriter;
  external: ExternalVerifier;
  log: { info(fields: object, message: string): void };
}

/**
 * What was asked: the provider, what to call it in a refusal, and, where the identity is known already, its subject.
 */
export interface ProviderRequest {
  provider: string;
  named: Named;
  subject?: string;
}

/**
 * Signs in whom the ID token speaks of, as a browser would have it done: the identity is made when it is not there yet.
 * A nonce is not asked for: it ties a token to a sign-in that somebody began here, and who shows the token at this door
 * began none. What keeps tokens for others out is their audience, which must be the provider's client. Throws what
 * `refusedAnswer` makes, and UNAVAILABLE when the issuer cannot be asked. A provider that is not there, one of another
 * issuer and one with another client are told alike, and nobody is asked for keys.
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
    const refused = "reason" in judged ? judged : notAccepted("there is no such identity provider");
    deps.log.info(
      {
        requestId: data.requestId,
        ...refused,
        identityProvider: request.provider,
        ...loggedClaims(jwt),
        value: loggedValue(jwt, refused.claim),
      },
      "token exchange refused",
    );
    throw withTruth(refusedAnswer(refused, jwt, request.named), { ...refused, identity: request.provider });
  }
  const { uid, issuer, clientId } = provider;
  const { identity, groups } = await deps.writer.write(signIn, data, {
    provider: uid,
    issuer,
    clientId,
    ...judged,
  });
  return {
    identity,
    ...(groups.length > 0 && { external: { provider: uid, groups, untilMs: Number(jwt.claims["exp"]) * 1000 } }),
  };
}

async function judge(
  { external }: ProviderExchangeDeps,
  jwt: Jwt,
  provider: Provider,
  { subject }: ProviderRequest,
  nowMs: number,
): Promise<Person | Refused> {
  const { claims, header } = jwt;
  if (claims["iss"] !== provider.issuer) return notAccepted("the provider has another issuer");
  if (!isFor(claims, provider.clientId)) return notAccepted("the token was not issued for the provider's client");
  try {
    await external.verify(jwt, nowMs);
  } catch (error) {
    if (!(error instanceof MoorageError) || error.code !== Code.Unauthenticated) throw error;
    return notAccepted(error.cause instanceof Error ? error.cause.message : "bad signature or unknown key");
  }
  const type = header["typ"];
  if ((type !== undefined && String(type).toUpperCase() !== "JWT") || "events" in claims)
    return notAccepted("the token is no ID token");
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

/** Source: OpenID Connect Core 1.0 §3.1.3.7, 3 to 5. */
function isFor(claims: Record<string, unknown>, clientId: string): boolean {
  const audiences = audiencesOf(claims);
  const party = claims["azp"];
  return audiences.includes(clientId) && (party === undefined ? audiences.length === 1 : party === clientId);
}

function notAccepted(why: string): Refused {
  return { reason: "NOT_ACCEPTED", claim: "", why };
}

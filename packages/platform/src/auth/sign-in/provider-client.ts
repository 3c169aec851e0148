import { FetchError, type GuardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { createLru } from "@moorage/kernel/lib/lru";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type * as openidClient from "openid-client";
import type { Configuration, CustomFetchOptions } from "openid-client";
import type { Provider } from "../../iam/index.ts";
import type { ExternalVerifier } from "../exchange/issuer-keys.ts";
import { kindRejection } from "../exchange/rejections.ts";
import { OAuthError } from "../http/oauth.ts";
import { audiencesOf, parseJwt } from "../tokens/jwt.ts";

/** The values that tie an answer of the provider to the one sign-in that it was requested for. */
interface Checks {
  state: string;
  nonce: string;
  verifier: string;
}

/** The OpenID Connect code flow with a provider, as its client. */
export interface ProviderClient {
  /** The URL to which the browser is redirected. Throws an OAuthError that says what to do. */
  begin(provider: Provider, redirectUri: string, checks: Checks, nowMs: number): Promise<URL>;
  /**
   * The claims of the ID token for the code in `answer`, which are the parameters that the browser came back with.
   * Verifies the token's signature, issuer, audience, times and nonce. Throws an OAuthError that says what to do.
   */
  finish(
    provider: Provider,
    redirectUri: string,
    answer: URLSearchParams,
    checks: Checks,
    nowMs: number,
  ): Promise<Record<string, unknown>>;
}

export interface ProviderClientDeps {
  fetch: GuardedFetch;
  external: Pick<ExternalVerifier, "verify">;
  /** Whether providers on plain http are allowed, for development. */
  allowPrivateNetwork: boolean;
  /** Decrypts the provider's client secret. */
  openSecret(provider: Provider): string;
  log: { info(fields: object, message: string): void };
}

type Library = typeof openidClient;
type Metadata = ReturnType<Configuration["serverMetadata"]>;

const SKEW_S = 60;
const MAX_KNOWN = 256;
const KNOWN_MS = 300_000;
const MAX_DEPTH = 16;
// In characters: an answer of the provider is no longer.
const MAX_ID_TOKEN_LENGTH = 512 * 1024;
const UNREACHABLE =
  "the identity provider could not be reached: try again in a moment, and inform its administrators if this persists";
const MISCONFIGURED =
  "the identity provider does not answer as it should: its administrators must compare what is registered there with what is set here";

/**
 * Source: OpenID Connect Core 1.0 §3.1, by openid-client. A provider's metadata is cached for five minutes; its keys
 * are fetched at every sign-in.
 */
export function createProviderClient({
  fetch,
  external,
  allowPrivateNetwork,
  openSecret,
  log,
}: ProviderClientDeps): ProviderClient {
  const known = createLru<string, { metadata: Metadata; atMs: number }>(MAX_KNOWN);
  const customFetch = async (url: string, { method, headers, body }: CustomFetchOptions): Promise<Response> => {
    const content = body instanceof URLSearchParams ? { body: body.toString() } : {};
    const answer = await fetch(url, { method: method === "POST" ? "POST" : "GET", headers, ...content });
    // Any other status is an answer of the provider, which may state an OAuth error.
    if (answer.status >= 500 || answer.status === 429) throw new FetchError("failed", "it answers with an error");
    const type = answer.headers["content-type"];
    if (typeof type === "string" && type.startsWith("application/json")) checkJson(answer.body.toString("utf8"));
    const bodyless = answer.status === 204 || answer.status === 205;
    return new Response(bodyless ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: { "content-type": String(type ?? "") },
    });
  };
  const extensions = (library: Library) => (allowPrivateNetwork ? [library.allowInsecureRequests] : []);

  const metadataOf = async (library: Library, { issuer, clientId }: Provider, nowMs: number): Promise<Metadata> => {
    const cached = known.get(issuer);
    if (cached !== undefined && Math.abs(nowMs - cached.atMs) < KNOWN_MS) return cached.metadata;
    const found = await library.discovery(new URL(issuer), clientId, {}, library.None(), {
      [library.customFetch]: customFetch,
      execute: extensions(library),
    });
    const metadata = found.serverMetadata();
    // The library compares issuers as URLs; tokens are compared with them as strings.
    if (metadata.issuer !== issuer) throw new FetchError("refused", "its discovery document names another issuer");
    known.set(issuer, { metadata, atMs: nowMs });
    return metadata;
  };
  const configure = async (library: Library, provider: Provider, nowMs: number): Promise<Configuration> => {
    const metadata = await metadataOf(library, provider, nowMs);
    const times = { [library.clockTolerance]: SKEW_S, [library.clockSkew]: Math.round((nowMs - Date.now()) / 1000) };
    const config = new library.Configuration(
      metadata,
      provider.clientId,
      times,
      authentication(library, metadata, provider, openSecret),
    );
    config[library.customFetch] = customFetch;
    for (const extend of extensions(library)) extend(config);
    // Verifies the signature as well, which OpenID Connect does not require for a token that comes directly from the
    // token endpoint.
    library.enableNonRepudiationChecks(config);
    return config;
  };
  /** Runs the work. An error is logged and replaced by an OAuthError with a text of ours. */
  const withOwnErrors = async <T>(provider: Provider, work: (library: Library) => Promise<T>): Promise<T> => {
    // Loaded at the first sign-in.
    const library = await import("openid-client");
    try {
      return await work(library);
    } catch (error) {
      const { answer, why } = explained(library, error);
      log.info({ identityProvider: provider.uid, error: answer.error, why }, "sign-in failed at the identity provider");
      // The cached metadata may have been the reason.
      if (answer.error !== "access_denied") known.delete(provider.issuer);
      throw answer;
    }
  };

  /**
   * The claims of an ID token for several audiences, of which we are one, that names no authorized party. The library
   * takes none of these, although the claim is optional; it has checked the other claims before that, and neither the
   * signature nor the nonce. Source: OpenID Connect Core 1.0 with errata 2, §3.1.3.7.
   */
  const claimsForSeveral = async (
    provider: Provider,
    idToken: string | undefined,
    nonce: string,
    nowMs: number,
  ): Promise<Record<string, unknown>> => {
    const jwt = parseJwt(idToken ?? "", MAX_ID_TOKEN_LENGTH);
    if (jwt === undefined || jwt.claims["iss"] !== provider.issuer || jwt.claims["nonce"] !== nonce)
      throw new FetchError("refused", "the ID token is not of this sign-in");
    if (kindRejection(jwt) !== undefined) throw new FetchError("refused", "the token is no ID token");
    try {
      await external.verify(jwt, nowMs, organizationOf(provider.uid));
    } catch (error) {
      throw new FetchError("refused", "the ID token is not signed by the provider", error);
    }
    return jwt.claims;
  };

  return {
    begin: (provider, redirectUri, { state, nonce, verifier }, nowMs) =>
      withOwnErrors(provider, async (library) => {
        const config = await configure(library, provider, nowMs);
        const pkce: Record<string, string> = provider.pkceEnabled
          ? { code_challenge: await library.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }
          : {};
        const scope = [...new Set(["openid", ...provider.additionalScopes])].join(" ");
        return library.buildAuthorizationUrl(config, { redirect_uri: redirectUri, scope, state, nonce, ...pkce });
      }),
    finish: (provider, redirectUri, answer, { state, nonce, verifier }, nowMs) =>
      withOwnErrors(provider, async (library) => {
        const config = await configure(library, provider, nowMs);
        const url = new URL(redirectUri);
        url.search = answer.toString();
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
          ...(provider.pkceEnabled && { pkceCodeVerifier: verifier }),
        };
        let idToken: string | undefined;
        config[library.customFetch] = async (address, init) => {
          const response = await customFetch(address, init);
          if (init.method === "POST") idToken = await idTokenIn(response.clone());
          return response;
        };
        const claims = await library.authorizationCodeGrant(config, url, checks).then(
          (tokens) => tokens.claims(),
          (error: unknown) =>
            isForSeveral(error, provider) ? claimsForSeveral(provider, idToken, nonce, nowMs) : Promise.reject(error),
        );
        // A single audience may differ from the authorized party: then the token was not issued to us. Source: OpenID
        // Connect Core 1.0 §3.1.3.7, 5.
        if (claims === undefined || (claims["azp"] !== undefined && claims["azp"] !== provider.clientId))
          throw new FetchError("refused", "the ID token is for another client");
        return claims;
      }),
  };
}

/**
 * client_secret_basic, which a provider supports unless its metadata says otherwise; a public client sends only its id.
 * Source: OpenID Connect Core 1.0 §9.
 */
function authentication(
  library: Library,
  metadata: Metadata,
  provider: Provider,
  openSecret: (provider: Provider) => string,
) {
  if (provider.clientSecret === "") return library.None();
  const secret = openSecret(provider);
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

function checkJson(text: string): void {
  try {
    parseJson(text, MAX_DEPTH);
  } catch (error) {
    throw new FetchError("refused", "it does not answer with JSON", error);
  }
}

/** The ID token in an answer of the token endpoint; undefined where there is none. */
async function idTokenIn(response: Response): Promise<string | undefined> {
  const answer: unknown = await response.json().catch(() => undefined);
  const token = isObject(answer) ? answer["id_token"] : undefined;
  return typeof token === "string" ? token : undefined;
}

/** Whether the library refuses an ID token for no more than having several audiences without an authorized party. */
function isForSeveral(error: unknown, { clientId }: Provider): boolean {
  const claims = causes(error)
    .filter(isObject)
    .find((cause) => cause["claim"] === "aud")?.["claims"];
  return isObject(claims) && claims["azp"] === undefined && audiencesOf(claims).includes(clientId);
}

/**
 * The error that the person is shown, and the reason for the log. Neither holds text of the provider, other than an
 * error code of lower-case letters.
 */
function explained(library: Library, error: unknown): { answer: OAuthError; why: string } {
  if (error instanceof library.AuthorizationResponseError) return explainedAnswer(error.error);
  if (error instanceof library.ResponseBodyError) {
    const code = codeOf(error.error);
    return {
      answer: new OAuthError(502, "server_error", `the identity provider refused the code (${code}): ${MISCONFIGURED}`),
      why: `token endpoint: ${code}`,
    };
  }
  const fetchError = causes(error).find((cause) => cause instanceof FetchError);
  if (fetchError?.kind === "failed")
    return { answer: new OAuthError(503, "temporarily_unavailable", UNREACHABLE), why: fetchError.message };
  const code = causes(error)
    .map((cause) => (cause instanceof Error && "code" in cause ? String(cause.code) : ""))
    .find((one) => one.startsWith("OAUTH_"));
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") {
    return {
      answer: new OAuthError(
        502,
        "server_error",
        "the clocks of the identity provider and of this server disagree: inform the administrators of both",
      ),
      why: code,
    };
  }
  const why = fetchError?.message ?? code ?? (error instanceof Error ? error.name : "unknown");
  return { answer: new OAuthError(502, "server_error", MISCONFIGURED), why };
}

/**
 * The same for an error in the provider's authorization response. Source: RFC 6749 §4.1.2.1, OpenID Connect Core 1.0
 * §3.1.2.6.
 */
function explainedAnswer(error: string): { answer: OAuthError; why: string } {
  const why = `authorization endpoint: ${codeOf(error)}`;
  if (error === "access_denied")
    return { answer: new OAuthError(403, "access_denied", "the sign-in was declined at the identity provider"), why };
  if (error === "temporarily_unavailable")
    return { answer: new OAuthError(503, "temporarily_unavailable", UNREACHABLE), why };
  return {
    answer: new OAuthError(
      502,
      "server_error",
      `the identity provider refused the sign-in (${codeOf(error)}): ${MISCONFIGURED}`,
    ),
    why,
  };
}

function codeOf(error: string): string {
  return /^[a-z_]{1,64}$/.test(error) ? error : "unknown error";
}

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (
    let at: unknown = error;
    at !== undefined && at !== null && found.length < 5;
    at = at instanceof Error ? at.cause : undefined
  )
    found.push(at);
  return found;
}

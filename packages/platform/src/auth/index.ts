import type { Auditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { Caller } from "@moorage/kernel/core/call";
import type { IssuerKeys } from "@moorage/kernel/core/service";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import { guardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import { type Authenticator, createAuthenticator } from "./tokens/authenticate.ts";
import { createExchanger, type Exchanger } from "./exchange/exchange.ts";
import { createExternalVerifier } from "./exchange/issuer-keys.ts";
import { createPersonalTokens, type PersonalTokens, sentPersonalToken } from "./tokens/personal-callers.ts";
import { mcpResource } from "./tokens/mcp-resource.ts";
import { createKeyring, type Keyring, loadKeys } from "./tokens/keys.ts";
import { createRefreshTokens, type RefreshTokens } from "./tokens/refresh.ts";
import { createSignIn } from "./sign-in/index.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { createTokens, type Tokens } from "./tokens/tokens.ts";

export { authArea } from "./area.ts";
export { holdsOnOwn } from "./sign-ins-of.ts";
export { requireMaker } from "./personal-tokens/maker.ts";
export { type Authenticator, rejectedCaller, withRejectedCaller } from "./tokens/authenticate.ts";
export { rotateKeys } from "./tokens/commands.ts";
export {
  accessOf,
  authorize,
  exists as resourceExists,
  holds as holdsOn,
  placesOf,
  requestAbout,
} from "./permissions/authorize.ts";
export { callerGrants, grantsOf, reaches, type Rights, rightsOf } from "./permissions/rights.ts";
export { membership, supposeExchange, usableIdentity } from "./exchange/suppose.ts";

export type { ExchangeAnswer, Exchanger } from "./exchange/exchange.ts";
export { createKeyring, createSigningKey, type Keyring, loadKeys, rotateSigningKey } from "./tokens/keys.ts";
export { mcpResource } from "./tokens/mcp-resource.ts";
export { capabilityOf } from "./tokens/tokens.ts";
export { isPersonalToken } from "./tokens/personal-secret.ts";
export { isRefreshToken, type RefreshTokens } from "./tokens/refresh.ts";
export { rejectionMessage } from "./exchange/rejections.ts";
export { createTokens, isWrongAudience, type MintRequest, type Tokens } from "./tokens/tokens.ts";
export { createSignInEndpoints } from "./sign-in-endpoints.ts";
export { answerPage, escaped, type Page } from "./sign-in/pages.ts";
export { authorizationOf, createStsEndpoints } from "./http/endpoints.ts";
export { createSecurityTokenService, type SecurityTokenService } from "./http/sts-service.ts";

export interface AccessDeps {
  config: Pick<
    Config,
    "baseUrl" | "registryAudience" | "accessTokenTtlMs" | "allowPrivateNetwork" | "dnsServers" | "localAccounts" | "mcp"
  >;
  /** Sees committed data; never written to. */
  reader: Database;
  writer: CommandWriter;
  secrets: Secrets;
  /** Receives the rejected requests. */
  auditor: Pick<Auditor, "note">;
  log: { info(fields: object, message: string): void };
}

/** Authentication: everything that works with the one set of signing keys. */
export interface Access {
  keyring: Keyring;
  tokens: Tokens;
  refreshTokens: RefreshTokens;
  personalTokens: PersonalTokens;
  exchanger: Exchanger;
  authenticate: Authenticator;
  signIn: SignIn;
  issuers: IssuerKeys;
  /**
   * Whether the token that this very Caller object was made of is valid at this time as well, where nothing was
   * committed since.
   */
  isStillGood(caller: Caller, nowMs: number): boolean;
}

// Limits of fetches from issuers: discovery documents and key sets are a few KiB.
const FETCH_TIMEOUT_MS = 5_000;
const FETCH_MAX_BYTES = 512 * 1024;
// Of a client's metadata document. Source: draft-ietf-oauth-client-id-metadata-document §6.6, which advises 5 KiB.
const DOCUMENT_MAX_BYTES = 16 * 1024;

export function createAccess({ config, reader, writer, secrets, auditor, log }: AccessDeps): Access {
  const keyring = createKeyring(() => loadKeys(reader, secrets));
  const tokens = createTokens({ issuer: config.baseUrl, keyring });
  const refreshTokens = createRefreshTokens({ reader, writer });
  const { allowPrivateNetwork, dnsServers } = config;
  const limits = { allowPrivateNetwork, dnsServers, timeoutMs: FETCH_TIMEOUT_MS };
  const fetch = guardedFetch({ ...limits, maxBytes: FETCH_MAX_BYTES, unpacksGzip: true });
  const fetchDocument = guardedFetch({ ...limits, maxBytes: DOCUMENT_MAX_BYTES });
  const external = createExternalVerifier(fetch);
  const audiences = [config.baseUrl, config.registryAudience, mcpResource(config.baseUrl)];
  const personalTokens = createPersonalTokens({ reader, writer, audiences, log });
  const exchanger = createExchanger({
    config,
    reader,
    writer,
    tokens,
    external,
    refreshTokens,
    personalTokens,
    auditor,
    log,
  });
  const authenticate = createAuthenticator({ config, tokens, personalTokens, reader });
  const signIn = createSignIn({
    config,
    reader,
    writer,
    secrets,
    tokens,
    authenticate,
    fetch,
    external,
    fetchDocument,
    auditor,
    log,
  });
  return {
    keyring,
    tokens,
    refreshTokens,
    personalTokens,
    exchanger,
    authenticate,
    signIn,
    issuers: external,
    isStillGood: (caller, nowMs) =>
      sentPersonalToken(caller) ? nowMs < (caller.expiresAtMs ?? 0) : tokens.isStillGood(caller, nowMs),
  };
}

import type { Auditor } from "../../audit/index.ts";
import type { GuardedFetch } from "../../lib/guarded-fetch.ts";
import type { Secrets } from "../../lib/secrets.ts";
import type { Config } from "../../config/index.ts";
import { secretPlace } from "../../iam/index.ts";
import type { Database } from "../../store/index.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import type { ExternalVerifier } from "../exchange/issuer-keys.ts";
import type { Authenticator } from "../tokens/authenticate.ts";
import type { Tokens } from "../tokens/tokens.ts";
import { type ClientDocuments, createClientDocuments } from "./client-documents.ts";
import { createFlow, type Flow } from "./flow.ts";
import { createProviderClient } from "./provider-client.ts";
import { createTokenGrants, type TokenGrants } from "./token-grants.ts";

export { createSignInEndpoints } from "./endpoints.ts";

export interface SignInDeps {
  config: Pick<Config, "baseUrl" | "accessTokenTtlMs" | "allowPrivateNetwork" | "localAccounts" | "mcp">;
  reader: Database;
  writer: CommandWriter;
  secrets: Secrets;
  tokens: Tokens;
  authenticate: Authenticator;
  fetch: GuardedFetch;
  external: ExternalVerifier;
  /** Fetches metadata documents of clients. */
  fetchDocument: GuardedFetch;
  /** Receives the rejected sign-ins. */
  auditor: Pick<Auditor, "note">;
  log: { info(fields: object, message: string): void };
}

/** Sign-in of people through an identity provider of their organization. */
export interface SignIn extends Pick<
  SignInDeps,
  "reader" | "writer" | "secrets" | "tokens" | "authenticate" | "auditor"
> {
  flow: Flow;
  grants: TokenGrants;
  documents: ClientDocuments | undefined;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { config, reader, writer, secrets, tokens, authenticate, fetch, external, fetchDocument, auditor, log } = deps;
  const provider = createProviderClient({
    fetch,
    external,
    log,
    allowPrivateNetwork: config.allowPrivateNetwork,
    openSecret: ({ uid, clientSecret }) => secrets.open(clientSecret, secretPlace(uid)),
  });
  return {
    reader,
    writer,
    secrets,
    tokens,
    authenticate,
    auditor,
    flow: createFlow({ config, reader, writer, secrets, provider, auditor, log }),
    documents: config.mcp ? createClientDocuments({ fetch: fetchDocument }) : undefined,
    grants: createTokenGrants({ config, writer, tokens, auditor }),
  };
}

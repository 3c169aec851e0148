import type { ExternalVerifier } from "../exchange/issuer-keys.ts";
import type { Database } from "../../store/index.ts";
import type { Secrets } from "../../lib/secrets.ts";
import type { GuardedFetch } from "../../lib/guarded-fetch.ts";
import type { CommandWriter } from "../../core/transactor.ts";
import type { Config } from "../../config/index.ts";
import type { Auditor } from "../../audit/index.ts";
import type { TokenGrants } from "../http/token-grants.ts";
import type { Tokens } from "../tokens/tokens.ts";
import type { Authenticator } from "../tokens/authenticate.ts";
import type { ClientDocuments } from "./client-documents.ts";
import type { Flow } from "./flow.ts";

/** Sign-in of people through an identity provider of their organization. */
export interface SignIn extends Pick<
  SignInDeps,
  "reader" | "writer" | "secrets" | "tokens" | "authenticate" | "auditor"
> {
  flow: Flow;
  grants: TokenGrants;
  documents: ClientDocuments | undefined;
}

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

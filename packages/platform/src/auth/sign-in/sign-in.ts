import type { Auditor } from "@moorage/kernel/audit";
import type { Config } from "@moorage/kernel/config";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { GuardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import type { ExternalVerifier } from "../exchange/issuer-keys.ts";
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

import { secretPlace } from "../../iam/index.ts";
import { createClientDocuments } from "./client-documents.ts";
import { createFlow } from "./flow.ts";
import { createProviderClient } from "./provider-client.ts";
import { createTokenGrants } from "./token-grants.ts";
import type { SignIn, SignInDeps } from "./sign-in.ts";

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

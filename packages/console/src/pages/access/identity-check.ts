import { call } from "../../api/call.ts";
import { checkIdentity, type Identity } from "../../api/gen/iam.ts";
import { say } from "../../ui/toasts.tsx";

/** Has the server ask the identity's issuer for its keys, and says what came of it. */
export async function sayIssuerCheck({ uid, name }: Identity): Promise<void> {
  await call(checkIdentity, { uid }).then(
    ({ status, message }) =>
      say(`${name}: ${status === "STATUS_READY" ? "its tokens can be verified" : "nobody can become it yet"}`, message),
    (error: unknown) => say(`${name} was not checked`, messageOf(error)),
  );
}

/** Says why an issuer that was just given to an identity cannot be used; nothing when it can. */
export async function sayIssuerFault(identity: Identity): Promise<void> {
  const { uid, name, claimMatch } = identity;
  if (!claimMatch?.issuer) return;
  await call(checkIdentity, { uid }).then(
    ({ status, message }) => {
      if (status !== "STATUS_READY") say(`${name} was saved, but nobody can become it yet`, message);
    },
    (error: unknown) => say(`The issuer of ${name} was not checked`, messageOf(error)),
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "");

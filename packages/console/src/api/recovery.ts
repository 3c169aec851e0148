import { request } from "./call.ts";

/** A recovery link, or where it was mailed to. */
export interface RecoveryLink {
  url?: string;
  mailTo?: string;
  /** RFC 3339. */
  expireTime: string;
}

/**
 * Makes a link by which the person makes a new passkey or password, once. `mailTo`: the address of the account, where
 * the server mails it; empty for a link that is shown. Throws an ApiError.
 */
export async function makeRecoveryLink(identity: string, mailTo: string): Promise<RecoveryLink> {
  const response = await request("/session/recovery-links", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identity, ...(mailTo !== "" && { mailTo }) }),
  });
  return (await response.json()) as RecoveryLink;
}

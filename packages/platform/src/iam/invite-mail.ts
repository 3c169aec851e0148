import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import { mailTime, type MailText, quotable } from "../mail/index.ts";
import { groupPath } from "./invite-preview.ts";
import { roles } from "./roles.ts";

/** The mail with an invite's link. Names that people chose are quoted as plain words. */
export async function inviteMail(
  call: Call,
  { parent, role_uid: roleUid, expiration_time: endMs, creator }: Row<"group_invites">,
  { url, baseUrl }: { url: string; baseUrl: string },
): Promise<MailText> {
  const path = (await groupPath(call.tx, parent)) ?? "";
  const [organization = ""] = path.split("/");
  const { name: role } = await roles.get(call.tx, roleUid);
  return {
    subject: `Invitation to ${organization}`,
    lines: [
      `${await personOf(call, creator)} invites you to ${path} on ${baseUrl}.`,
      "",
      `Role: ${quotable(role)}`,
      `Good until: ${mailTime(endMs)}, once`,
      "",
      "Open this address in a browser to accept:",
      url,
      "",
      "Whoever opens it first gets the access, so pass it on to nobody.",
      "If you do not know what this is about, do nothing: without the address nobody gets in, and it ends by itself.",
    ],
  };
}

/** The name of who asks for a mail and, where it is known, the verified e-mail address. */
async function personOf({ tx }: Call, uid: string): Promise<string> {
  const row = await tx.selectFrom("identities").select(["name", "email"]).where("uid", "=", uid).executeTakeFirst();
  const name = quotable(row?.name ?? "");
  return row === undefined || row.email === "" ? name : `${name} (${quotable(row.email)})`;
}

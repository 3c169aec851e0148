import { randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type GroupInvite,
  type GroupInvite_MailState,
  GroupInviteSchema,
  GroupInvitesService,
} from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { resource } from "@moorage/kernel/aip/resource";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Row } from "@moorage/kernel/store";
import { cancelMails, enqueueMail, mailsAbout, requireMailable, type ShownMail } from "../mail/index.ts";
import { acceptInvite, hashOf, keyIdOf } from "./accept-invite.ts";
import { requireGivable } from "./give-role.ts";
import { inviteMail } from "./invite-mail.ts";
import { groups } from "./groups.ts";
import { capabilitiesOf } from "./roles.ts";

/** Fields that come from the mail of the invite. */
const MAIL_FIELDS = ["mail_to", "mail_state", "mail_reason", "mail_time"];
const LAYOUT = layoutOf(GroupInviteSchema, { without: ["role", "ttl", "code", "url", ...MAIL_FIELDS] });

const toRow = columnsOf(LAYOUT, "group_invites", ["role_uid", "email", "single_use"]);

const invites = resource({
  message: GroupInviteSchema,
  table: "group_invites",
  // `ttl` is an input only; an update validates the whole message, where it is required.
  toMessage: (row) => ({ ...LAYOUT.fieldsOf(row), ttl: durationFromMs(row.expiration_time - row.create_time) }),
  // The role cannot be changed.
  toRow: columnsOf(LAYOUT, "group_invites", ["email", "single_use"]),
});

const LIST = listOf({
  method: GroupInvitesService.method.listGroupInvites,
  table: "group_invites",
  defaultOrder: "createTime",
  orderBy: sortable("create_time", "expiration_time", "email", "key_id", "uid"),
});

// A code is sent by mail or chat, where it remains readable, so an invite ends after at most a month.
const MAX_TTL_MS = 30 * 86_400_000;
// A mailbox keeps what was sent to it for years, and who reads it is not known.
const MAX_MAILED_TTL_MS = 7 * 86_400_000;
const CODE_BYTES = 32;
/** The console's page on which an invite is accepted. */
const INVITE_PAGE = "/invite";

export function groupInvitesService({
  pageTokenKey,
  emailIssuers = [],
  baseUrl = "",
  sendsMail = false,
  secrets,
}: ServiceContext): Service<typeof GroupInvitesService> {
  return {
    getGroupInvite: async (call, { uid }) => await hydrateOne(call, await invites.get(call.tx, uid)),
    async listGroupInvites(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ keyId }) => columnIsIfSet("key_id", keyId),
      });
      return { ...page, groupInvites: await hydrate(call, page.rows) };
    },
    async createGroupInvite(call, { parent, groupInvite = create(GroupInviteSchema) }) {
      const ttlMs = check(groupInvite);
      const { mailTo } = groupInvite;
      if (mailTo !== "") requireMailable(sendsMail, "mailTo", mailTo);
      await groups.get(call.tx, parent);
      await requireGivable(call, parent, groupInvite.roleUid);
      const code = randomBytes(CODE_BYTES).toString("base64url");
      const hash = hashOf(code);
      const row = await invites.insert(call, parent, {
        ...toRow(groupInvite),
        ...(mailTo !== "" && { single_use: 1 }),
        code_hash: hash,
        key_id: keyIdOf(hash),
        creator: call.caller.identity,
        expiration_time: call.nowMs + ttlMs,
        create_time: call.nowMs,
      });
      const url = `${baseUrl}${INVITE_PAGE}#${code}`;
      if (mailTo === "") return { ...(await hydrateOne(call, row)), code, url };
      await enqueueMail(call, secrets, {
        purpose: "invite",
        subject: row.uid,
        organization: organizationOf(parent),
        address: mailTo,
        expireTimeMs: row.expiration_time,
        text: await inviteMail(call, row, { url, baseUrl }),
      });
      return await hydrateOne(call, row);
    },
    acceptGroupInvite: (call, request) => acceptInvite(call, request, emailIssuers),
    async updateGroupInvite(call, { groupInvite = create(GroupInviteSchema), updateMask }) {
      // A caller that changes an invite's address decides which identity gets its role, so it must hold the role.
      await invites.patch(call, groupInvite.uid, groupInvite, updateMask, (before) =>
        requireGivable(call, before.parent, before.role_uid),
      );
      await requireSingleUseOfMailed(call, groupInvite.uid);
      return await hydrateOne(call, await invites.get(call.tx, groupInvite.uid));
    },
    async deleteGroupInvite(call, { uid }) {
      const row = await invites.get(call.tx, uid);
      await call.tx.deleteFrom("invite_acceptances").where("invite", "=", uid).execute();
      // Until the invite would have expired, a caller with its code is answered that it was revoked.
      await call.tx.deleteFrom("revoked_invites").where("expiration_time", "<=", call.nowMs).execute();
      const { code_hash, expiration_time } = row;
      if (expiration_time > call.nowMs)
        await call.tx.insertInto("revoked_invites").values({ code_hash, expiration_time }).execute();
      await cancelMails(call, uid);
      await invites.remove(call, row);
      return {};
    },
  };
}

/** Throws INVALID_ARGUMENT with all violations. Returns the invite's lifetime in milliseconds. */
function check(invite: GroupInvite): number {
  const violations: FieldViolation[] = violationsOf(GroupInviteSchema, invite);
  const ttlMs = invite.ttl === undefined ? 0 : durationMs(invite.ttl);
  const isMailed = invite.mailTo !== "";
  const isFine = invite.ttl === undefined || (ttlMs > 0 && ttlMs <= (isMailed ? MAX_MAILED_TTL_MS : MAX_TTL_MS));
  if (!isFine)
    violations.push({
      field: "ttl",
      description: isMailed
        ? "must be more than 0s and at most 604800s, which are 7 days, for an invite that is mailed"
        : "must be more than 0s and at most 2592000s, which are 30 days",
    });
  if (violations.length > 0) throw invalidArgument(...violations);
  return ttlMs;
}

function durationMs({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1000 + Math.ceil(nanos / 1_000_000);
}

/** Throws INVALID_ARGUMENT where an invite that was mailed would be good for more than one. */
async function requireSingleUseOfMailed(call: Call, uid: string): Promise<void> {
  const { single_use: singleUse } = await invites.get(call.tx, uid);
  if (singleUse === 1 || (await mailsAbout(call.tx, [uid])).size === 0) return;
  throw invalidArgument({ field: "singleUse", description: "must be true for an invite that was mailed" });
}

type Hydrated = MessageInitShape<typeof GroupInviteSchema>;

async function hydrateOne(call: Call, row: Row<"group_invites">): Promise<Hydrated> {
  const [invite = {}] = await hydrate(call, [row]);
  return invite;
}

/** Invites as responses show them, with their roles. */
async function hydrate(call: Call, rows: Row<"group_invites">[]): Promise<Hydrated[]> {
  if (rows.length === 0) return [];
  const uids = [...new Set(rows.map((row) => row.role_uid))];
  const found = await call.tx
    .selectFrom("roles")
    .select(["uid", "name", "description", "capabilities"])
    .where("uid", "in", uids)
    .execute();
  const roleOf = new Map(found.map((row) => [row.uid, { ...row, capabilities: capabilitiesOf(row) }]));
  const mails = await mailsAbout(
    call.tx,
    rows.map(({ uid }) => uid),
  );
  return rows.map((row) => {
    const role = roleOf.get(row.role_uid);
    const mail = mails.get(row.uid);
    return { ...LAYOUT.fieldsOf(row), ...(role && { role }), ...(mail && mailFields(mail)) };
  });
}

function mailFields({ address, state, reason, endTimeMs }: ShownMail) {
  return {
    mailTo: address,
    mailState: state as GroupInvite_MailState,
    mailReason: reason,
    ...(endTimeMs !== null && { mailTime: timestampFromMs(endTimeMs) }),
  };
}

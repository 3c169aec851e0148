import { ResourceDeletedSchema, SessionKind, SessionSchema, SessionsService } from "@moorage/api/messages";
import { rejectUnlistable } from "@moorage/kernel/aip/access";
import { listFound, listOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import type { FoundPage, PageQuery } from "@moorage/kernel/aip/page-query";
import { audit } from "@moorage/kernel/audit";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { isUid, parentOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";
import { mayOnSignInsOf, providerOfIdentity } from "../sign-ins-of.ts";

/** How long a browser session lasts without a request, in milliseconds. */
export const SESSION_IDLE_MS = 3_600_000;

const DELETED = "api.iam.session.deleted.v1";
const LIST = listOf({
  method: SessionsService.method.listSessions,
  table: "sessions",
  defaultOrder: "createTime desc",
  orderBy: sortable("create_time", "seen_time", "expire_time"),
});

export function sessionsService({ pageTokenKey }: ServiceContext): Service<typeof SessionsService> {
  return {
    async listSessions(call, request) {
      let [identity, provider] = ["", ""];
      const find = async (query: PageQuery): Promise<FoundPage<Found>> => {
        if (!(await mayOnSignInsOf(call, LIST.needs[0] ?? 0, identity))) {
          if (isUid(identity)) await rejectUnlistable(call, LIST.needs, identity);
          return { rows: [], total: 0 };
        }
        provider = await providerOfIdentity(call.tx, identity);
        return pageOf(await sessionsOf(call.tx, identity, call.nowMs), query);
      };
      const options = {
        // A page token names the identity that the list is of.
        filters: (inForce: { identity: string }) => {
          identity = inForce.identity || call.caller.identity;
          return [];
        },
      };
      const cell = (row: Found, column: string): unknown => (row as object as Record<string, unknown>)[column];
      const { rows, ...rest } = await listFound(call, pageTokenKey, LIST, request, options, find, cell);
      return {
        ...rest,
        sessions: rows.map(({ create_time: createMs, seen_time: seenMs, expire_time: expireMs, ...row }) => ({
          uid: row.uid,
          identity,
          kind: row.kind,
          provider,
          ...(createMs !== 0 && { createTime: timestamp(createMs) }),
          ...(seenMs !== 0 && { seenTime: timestamp(seenMs) }),
          expireTime: timestamp(expireMs),
          current: row.uid === call.caller.session,
          userAgent: row.user_agent,
          network: row.network,
        })),
      };
    },
    async deleteSession(call, { uid }) {
      const identity = parentOf(uid);
      const found = await findSession(call.tx, uid, call.nowMs);
      if (found === undefined) throw notFound(SessionSchema.typeName, uid);
      if (found.family === undefined) await call.tx.deleteFrom("sessions").where("uid", "=", uid).execute();
      else await call.tx.deleteFrom("refresh_tokens").where("family", "=", found.family).execute();
      const provider = await providerOfIdentity(call.tx, identity);
      // The method's event and entry would be for the group that the identity is in, and a person is in none.
      if (provider !== "") {
        call.emit(ResourceDeletedSchema, { type: DELETED, subject: uid, group: parentOf(provider), body: { uid } });
        const method = `${SessionsService.typeName}.DeleteSession`;
        await audit(call, { method, resource: provider, details: { identity, session: uid } });
      }
      return {};
    },
  };
}

/** The session that has not ended, with the family of its refresh tokens where it is a program's. */
export async function findSession(db: Database, uid: string, nowMs: number): Promise<Found | undefined> {
  return (await sessionsOf(db, parentOf(uid), nowMs)).find((one) => one.uid === uid);
}

interface Found {
  uid: string;
  kind: SessionKind;
  family?: string;
  user_agent: string;
  network: string;
  create_time: number;
  seen_time: number;
  expire_time: number;
}

/** All of the identity: a hundred of browsers and a thousand of programs at most, as sign-ins bound them. */
async function sessionsOf(db: Database, identity: string, nowMs: number): Promise<Found[]> {
  const browsers = await db
    .selectFrom("sessions")
    .select(["uid", "user_agent", "network", "create_time", "seen_time", "expire_time"])
    .where("identity", "=", identity)
    .where("expire_time", ">", nowMs)
    .where("seen_time", ">", nowMs - SESSION_IDLE_MS)
    .execute();
  const programs = await db
    .selectFrom("refresh_tokens")
    .select(["family", "create_time", "seen_time", "expire_time"])
    .where("identity", "=", identity)
    .where("expire_time", ">", nowMs)
    .where("used_time", "is", null)
    .execute();
  return [
    ...browsers.map((row) => ({ ...row, kind: SessionKind.BROWSER })),
    ...programs.map((row) => ({
      ...row,
      uid: `${identity}/${row.family.replaceAll("-", "").slice(0, 16)}`,
      kind: SessionKind.PROGRAM,
      user_agent: "",
      network: "",
    })),
  ];
}

/** The page in the order of the query; ties are broken by the uid, in the direction of the last field. */
function pageOf(all: Found[], { orders, after, offset, limit }: PageQuery): FoundPage<Found> {
  const steps = [...orders, { column: "uid", descending: orders.at(-1)?.descending ?? false }];
  const position = (row: Found): (string | number)[] =>
    steps.map(({ column }) => (row as object as Record<string, string | number>)[column] ?? 0);
  const compare = (one: (string | number)[], other: (string | number)[]): number => {
    for (const [at, { descending }] of steps.entries()) {
      const [left = 0, right = 0] = [one[at], other[at]];
      if (left !== right) return left < right === descending ? 1 : -1;
    }
    return 0;
  };
  const sorted = all.toSorted((one, other) => compare(position(one), position(other)));
  const rest = after === undefined ? sorted : sorted.filter((row) => compare(position(row), after) > 0);
  return { rows: rest.slice(offset, offset + limit), total: all.length };
}

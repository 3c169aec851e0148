import { create } from "@bufbuild/protobuf";
import {
  Capability,
  type PersonalToken,
  PersonalTokenSchema,
  PersonalTokensService,
  ResourceDeletedSchema,
} from "@moorage/api/messages";
import { columnIsIfSet, listOf, listPage } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { permissionDenied, notFound } from "@moorage/kernel/errors";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { isUid, newUid, parentOf } from "@moorage/kernel/lib/uid";
import type { Row } from "@moorage/kernel/store";
import { checkPersonalToken } from "./check.ts";
import { record } from "./record.ts";
import { requireMaker, requireBelowLimit } from "./maker.ts";
import { ofGroup, visiblePeople } from "./scope.ts";
import { hashOfPersonalToken, hintOf, newPersonalToken } from "../tokens/personal-secret.ts";

const LIST = listOf({
  method: PersonalTokensService.method.listPersonalTokens,
  table: "personal_tokens",
  defaultOrder: "createTime desc",
  orderBy: sortable("name", "create_time", "expiration_time", "last_used_time"),
});

/** What people sign their own programs in with. */
export function personalTokensService({ pageTokenKey }: ServiceContext): Service<typeof PersonalTokensService> {
  return {
    getPersonalToken: async (call, { uid }) => shown(await find(call, uid)),
    async listPersonalTokens(call, request) {
      const page = await listPage(call, pageTokenKey, LIST, request, {
        filters: ({ identity, group }) => [...columnIsIfSet("identity", identity), ...ofGroup(group)],
        foundBy: ({ identity }) => (identity === "" ? undefined : "identity"),
        scope: visiblePeople(call),
      });
      return { ...page, personalTokens: page.rows.map(shown) };
    },
    async createPersonalToken(call, { personalToken = create(PersonalTokenSchema) }) {
      const { identity } = call.caller;
      await requireMaker(call);
      const { name, capabilities, groups, expirationMs } = await checkPersonalToken(call, personalToken);
      await requireBelowLimit(call);
      const token = newPersonalToken();
      const row = {
        uid: newUid(identity),
        hash: hashOfPersonalToken(token),
        identity,
        name,
        capabilities: JSON.stringify(capabilities),
        scopes: JSON.stringify(groups),
        hint: hintOf(token),
        create_time: call.nowMs,
        expiration_time: expirationMs,
        last_used_time: 0,
      };
      await call.tx.insertInto("personal_tokens").values(row).execute();
      const made = shown(row);
      await record(call, row, { ...CREATED, schema: PersonalTokenSchema, body: made });
      return { ...made, token };
    },
    async deletePersonalToken(call, { uid }) {
      requireMayRevoke(call);
      const row = await find(call, uid);
      await call.tx.deleteFrom("personal_tokens").where("uid", "=", uid).execute();
      await record(call, row, { ...DELETED, schema: ResourceDeletedSchema, body: { uid } });
      return {};
    },
  };
}

const CREATED = {
  type: "api.iam.personaltokens.created.v1",
  method: `${PersonalTokensService.typeName}.CreatePersonalToken`,
};
const DELETED = {
  type: "api.iam.personaltokens.deleted.v1",
  method: `${PersonalTokensService.typeName}.DeletePersonalToken`,
};

async function find({ tx }: Call, uid: string): Promise<Row<"personal_tokens">> {
  const row = isUid(uid)
    ? await tx.selectFrom("personal_tokens").selectAll().where("uid", "=", uid).executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound(PersonalTokenSchema.typeName, uid);
  return row;
}

/** A token that was narrowed to reading must revoke nothing. Throws PERMISSION_DENIED. */
function requireMayRevoke({ caller: { capabilities } }: Call): void {
  if (capabilities === undefined || capabilities.includes(Capability.CAP_IAM_IDENTITY_UPDATE)) return;
  throw permissionDenied("a token that is narrowed revokes others only with CAP_IAM_IDENTITY_UPDATE", {
    missing: "CAP_IAM_IDENTITY_UPDATE",
  });
}

function shown(row: Row<"personal_tokens">): PersonalToken {
  const { last_used_time: usedMs } = row;
  return create(PersonalTokenSchema, {
    uid: row.uid,
    name: row.name,
    capabilities: JSON.parse(row.capabilities) as Capability[],
    groups: JSON.parse(row.scopes) as string[],
    hint: row.hint,
    identity: parentOf(row.uid),
    createTime: timestamp(row.create_time),
    expirationTime: timestamp(row.expiration_time),
    ...(usedMs !== 0 && { lastUsedTime: timestamp(usedMs) }),
  });
}

import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { organizationOf, parentOf } from "@moorage/kernel/lib/uid";
import type { Database, Row } from "@moorage/kernel/store";
import { providerOfIdentity } from "../sign-ins-of.ts";

/** A place where what becomes of a person's tokens is recorded, since a person is in no group. */
interface Home {
  /** The uid of the resource of audit entries. */
  resource: string;
  isOrganization: boolean;
  /** The group of events. */
  group: string;
}

const MAX_ORGANIZATIONS = 20;

/**
 * The identity provider of the person and its group; of a person without a provider, such as the first owner, the
 * organizations in which it holds roles, at most 20.
 */
async function homesOf(db: Database, identity: string): Promise<Home[]> {
  const provider = await providerOfIdentity(db, identity);
  if (provider !== "") return [{ resource: provider, isOrganization: false, group: parentOf(provider) }];
  const bindings = await db
    .selectFrom("role_bindings")
    .select("parent")
    .where("identity_uid", "=", identity)
    .orderBy("create_time")
    .orderBy("uid")
    .execute();
  const organizations = new Set(bindings.map(({ parent }) => organizationOf(parent)));
  return [...organizations]
    .slice(0, MAX_ORGANIZATIONS)
    .map((uid) => ({ resource: uid, isOrganization: true, group: uid }));
}

/** Emits an event of a person's token, and records by which method it came to be, in all homes of the person. */
export async function record<D extends DescMessage>(
  call: Call,
  { uid, identity, name }: Pick<Row<"personal_tokens">, "uid" | "identity" | "name">,
  { method, type, schema, body }: { method: string; type: string; schema: D; body: MessageInitShape<D> },
): Promise<void> {
  const details = { identity, personalToken: uid, name };
  for (const { resource, isOrganization, group } of await homesOf(call.tx, identity)) {
    call.emit(schema, { type, subject: uid, group, body });
    await audit(call, { method, resource, isOrganization, details });
  }
}

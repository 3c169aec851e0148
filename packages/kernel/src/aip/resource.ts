import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Kysely } from "kysely";
import { after, type Awaitable } from "../lib/awaitable.ts";
import { isUid, newUid } from "../lib/uid.ts";
import type { Call, Hindrance } from "../core/call.ts";
import { alreadyExists, notFound } from "../errors.ts";
import {
  addToAncestors,
  declareMany,
  type Database,
  type Kind,
  removeFromAncestors,
  renameInAncestors,
  type ResourceTable,
  type Row,
  selectArrays,
  statement,
} from "../store/index.ts";
import { applyMask } from "./masks.ts";
import { type Layout, type Stored, storedRow } from "../core/stored-answer.ts";
import { validateChange } from "./validate.ts";

/** How a resource's message maps to its table. */
export interface ResourceSpec<D extends DescMessage, T extends ResourceTable> {
  message: D;
  table: T;
  /** Set if the resource is counted and found through its ancestors. */
  kind?: Kind;
  toMessage: (row: Row<T>) => MessageInitShape<D>;
  /** The columns that an update can change. */
  toRow: (message: MessageShape<D>) => Partial<Row<T>>;
}

/** The standard methods for one table, from which services are made. */
export interface Resource<D extends DescMessage, T extends ResourceTable> {
  toMessage(row: Row<T>): MessageShape<D>;
  find(db: Database, uid: string): Promise<Row<T> | undefined>;
  /** Throws NOT_FOUND if there is no such row. */
  get(db: Database, uid: string): Promise<Row<T>>;
  /** Inserts below the parent. Throws ALREADY_EXISTS when the name is taken. */
  insert(call: Call, parent: string, row: Omit<Row<T>, "uid" | "parent">): Promise<Row<T>>;
  /** Throws ALREADY_EXISTS when a child of the parent has the name. */
  requireFree(db: Database, parent: string, name: string): Promise<void>;
  /** Changes the fields that the mask names, validates the result and writes it. `check` is called before the write. */
  patch(
    call: Call,
    uid: string,
    patch: Message,
    mask: FieldMask | undefined,
    check?: Check<D, T>,
  ): Promise<MessageShape<D>>;
  /** Removes the row, which must exist. The service has to remove what depends on it. */
  remove(call: Call, row: Row<T>): Promise<void>;
}

/** Checks an update before it is written; throws to reject it. */
type Check<D extends DescMessage, T extends ResourceTable> = (
  before: Row<T>,
  after: MessageShape<D>,
) => Promise<void> | void;

type Named = { uid: string; parent: string; name?: string };
type Anything = Record<ResourceTable, Record<string, unknown>>;

export function resource<D extends DescMessage, T extends ResourceTable>(spec: ResourceSpec<D, T>): Resource<D, T> {
  const type = spec.message.typeName;
  // Kysely cannot type a table name that is a type parameter: inside this function rows are plain records.
  const plain = (db: Database): Kysely<Anything> => db as unknown as Kysely<Anything>;
  const named = (row: Row<T>): Named => row as unknown as Named;
  const toMessage = (row: Row<T>): MessageShape<D> => create(spec.message, spec.toMessage(row));

  const selectByUid = statement<Row<T>>(`select * from ${spec.table} where uid = ?`, ["text"]);
  const selectByName = statement<{ uid: string }>(`select uid from ${spec.table} where parent = ? and name = ?`);
  const find = async (db: Database, uid: string): Promise<Row<T> | undefined> => {
    if (!isUid(uid)) return undefined;
    const [row] = await selectByUid(db, uid);
    return row;
  };
  const get = async (db: Database, uid: string): Promise<Row<T>> => {
    const row = await find(db, uid);
    if (row === undefined) throw notFound(type, uid);
    return row;
  };
  return {
    toMessage,
    find,
    get,
    async insert(call, parent, values) {
      const uid = newUid(parent);
      const row = { ...values, uid, parent } as unknown as Row<T>;
      const { name = "" } = named(row);
      const result = await plain(call.tx)
        .insertInto(spec.table as ResourceTable)
        .values({ ...row })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (result.numInsertedOrUpdatedRows === 0n) throw alreadyExists(type, name);
      if (spec.kind !== undefined) await addToAncestors(call.tx, spec.kind, uid, name);
      return row;
    },
    async requireFree(db, parent, name) {
      const [taken] = await selectByName(db, parent, name);
      if (taken !== undefined) throw alreadyExists(type, name);
    },
    async patch(call, uid, patch, mask, check) {
      const before = await get(call.tx, uid);
      const current = toMessage(before);
      const after = applyMask(spec.message, current, patch, mask);
      validateChange(spec.message, current, after);
      await check?.(before, after);
      const changes: Record<string, unknown> = { ...spec.toRow(after) };
      if ("update_time" in before) changes["update_time"] = call.nowMs;
      const [from, to] = [named(before).name ?? "", String(changes["name"] ?? "")];
      if (from !== to && spec.kind !== undefined) await renameInAncestors(call.tx, spec.kind, uid, from, to);
      await plain(call.tx)
        .updateTable(spec.table as ResourceTable)
        .set(changes)
        .where("uid", "=", uid)
        .execute();
      return toMessage({ ...before, ...changes });
    },
    async remove(call, row) {
      const { uid, name = "" } = named(row);
      await plain(call.tx)
        .deleteFrom(spec.table as ResourceTable)
        .where("uid", "=", uid)
        .execute();
      if (spec.kind !== undefined) await removeFromAncestors(call.tx, spec.kind, uid, name);
    },
  };
}

/** The Get method of a resource, which sends the row as it is stored. It throws NOT_FOUND. */
export function storedGet<D extends DescMessage>(
  table: ResourceTable,
  layout: Layout<D>,
): (db: Database, uid: string) => Awaitable<Stored<D>> {
  const text = `select ${layout.columns.join(", ")} from ${table} where uid = ?`;
  declareMany(text, ["text"]);
  return (db, uid) =>
    after(isUid(uid) ? selectArrays(db, text, [uid], layout.columns) : [], ([cells]) => {
      if (cells === undefined) throw notFound(layout.message.typeName, uid);
      return storedRow(layout, cells);
    });
}

/** How many rows of the table are direct children of the parent. */
export async function countBelow(db: Database, table: ResourceTable, parent: string): Promise<number> {
  const { n } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where("parent", "=", parent)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/**
 * What keeps a group from being deleted, by the tables whose rows it would leave without a parent, with what these are
 * called.
 */
export function countedBelow(
  words: Partial<Record<ResourceTable, string>>,
): (call: Call, parent: string) => Promise<Hindrance[]> {
  return async ({ tx }, parent) => {
    const found: Hindrance[] = [];
    for (const [table, name] of Object.entries(words))
      found.push({ words: name, count: await countBelow(tx, table as ResourceTable, parent) });
    return found.filter(({ count }) => count > 0);
  };
}

import { BlockReason, LibraryBlockSchema, PolicyMode } from "@moorage/api/messages";
import type { Actor, Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { civilTime, isoTime } from "@moorage/kernel/lib/timestamps";
import { newUid } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";
import { ecosystemOf } from "../ecosystem/lookup.ts";
import type { Gate } from "../policies/gate.ts";
import type { Verdict } from "../policies/judge.ts";

/** Requests of one identity for one version that met the same verdict. Times are in milliseconds since 1970. */
export interface NotedBlock {
  /** The uid of the group whose library was asked for. */
  group: string;
  ecosystem: number;
  name: string;
  version: string;
  verdict: Verdict;
  mode: Exclude<Gate["mode"], "none">;
  by: Actor;
  count: number;
  firstMs: number;
  lastMs: number;
  /** Of the last one. */
  remoteAddress: string;
  userAgent: string;
}

/** The most that one transaction writes or removes. */
export const BLOCKS_PER_TRANSACTION = 200;

const REASONS: Readonly<Record<Verdict["reason"], BlockReason>> = {
  cooldown: BlockReason.COOLDOWN,
  malware: BlockReason.MALWARE,
  purl: BlockReason.PURL,
  license: BlockReason.LICENSE,
};
const MODES = { preview: PolicyMode.PREVIEW, enforce: PolicyMode.ENFORCE } as const;
const MAX_COUNT = 2_147_483_647;

const selectGroup = statement<{ uid: string }>("select uid from groups where uid = ?", ["text"]);
const upsert = statement<{ uid: string }>(
  `insert into artifact_blocks (uid, parent, organization, ecosystem, name, version, identity, reason, detail, mode, count, first_time, last_time, open_time)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   on conflict (parent, ecosystem, name, version, identity, reason, mode) do update set
     count = case when artifact_blocks.count > ${MAX_COUNT} - excluded.count then ${MAX_COUNT} else artifact_blocks.count + excluded.count end,
     detail = excluded.detail, last_time = excluded.last_time, open_time = excluded.open_time
   returning uid`,
);

/** Writes what was blocked: a new row, or the next requests of one that is there. A new one emits an event. */
export const noteBlocks = command(
  "libraries.noteBlocks",
  async (call: Call, { blocks }: { blocks: readonly NotedBlock[] }): Promise<void> => {
    const groups = new Map<string, boolean>();
    for (const block of blocks) {
      const { group, verdict, mode, by, firstMs, lastMs } = block;
      if (!groups.has(group)) groups.set(group, (await selectGroup(call.tx, group)).length > 0);
      // The group may have been removed since.
      if (groups.get(group) !== true) continue;
      const uid = newUid(group);
      const [row] = await upsert(
        call.tx,
        uid,
        group,
        group.split("/", 1)[0] ?? "",
        block.ecosystem,
        block.name,
        block.version,
        by.identity,
        REASONS[verdict.reason],
        verdict.detail,
        MODES[mode],
        block.count,
        firstMs,
        lastMs,
        verdict.opensMs ?? null,
      );
      if (row?.uid === uid) emitBlock(call, uid, block);
    }
  },
);

function emitBlock(call: Call, uid: string, block: NotedBlock): void {
  const { group, ecosystem, name, version, verdict, mode, by, firstMs, remoteAddress, userAgent } = block;
  call.emit(LibraryBlockSchema, {
    type: "libraries.version.blocked.v1",
    subject: uid,
    group,
    by,
    body: {
      group,
      ecosystem: ecosystemOf(ecosystem).key,
      name,
      version,
      identity: by.identity,
      reason: verdict.reason,
      detail: verdict.detail,
      mode,
      opens: verdict.opensMs === undefined ? "" : isoTime(verdict.opensMs),
      when: civilTime(firstMs),
      remoteAddress,
      userAgent,
    },
  });
}

const removeOld = statement<{ uid: string }>(
  `delete from artifact_blocks where uid in (select uid from artifact_blocks where organization = ? and last_time < ? order by last_time, uid limit ${BLOCKS_PER_TRANSACTION}) returning uid`,
);
const selectLast = statement<{ last_time: number }>(
  `select last_time from artifact_blocks where organization = ? order by last_time desc limit 1 offset ?`,
  ["text", "bigint"],
);

/**
 * Removes entries of an organization whose last request was before the time, and the oldest ones when it has more than
 * `maxRows`; at most `BLOCKS_PER_TRANSACTION`. `removed`: how many.
 */
export const expireBlocks = command(
  "libraries.expireBlocks",
  async (
    call: Call,
    { organization, beforeMs, maxRows }: { organization: string; beforeMs: number; maxRows: number },
  ): Promise<{ removed: number }> => {
    const [last] = await selectLast(call.tx, organization, maxRows);
    const untilMs = last === undefined ? beforeMs : Math.max(beforeMs, Number(last.last_time) + 1);
    return { removed: (await removeOld(call.tx, organization, untilMs)).length };
  },
);

export const blockCommands = [noteBlocks, expireBlocks] as const;

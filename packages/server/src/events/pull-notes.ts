import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type RegistryPull, RegistryPullSchema } from "@moorage/api";
import { timestamp } from "../base/times.ts";
import { parentOf } from "../base/uid.ts";
import type { Actor, Call } from "../call.ts";
import { actorOf, appendRows, type OutboxRow } from "./append.ts";
import { bodyOf } from "./body.ts";

/** Pulls that are alike in all but their time. */
export interface PullNote extends Pick<RegistryPull, "repository" | "tag" | "digest" | "remoteAddress" | "userAgent"> {
  /** The repo's uid. */
  repo: string;
  type: "manifest" | "blob";
  method: "GET" | "HEAD";
  actor: Actor;
  /** When each was answered, in milliseconds since 1970. */
  timesMs: number[];
}

const TYPE = "registry.pull.v1";
const WHEN = '"when":"';

/** Tells of pulls, each by an event of its own, in the order of their times. */
async function notePulls({ tx }: Call, { pulls }: { pulls: readonly PullNote[] }): Promise<void> {
  const rows = pulls.flatMap(rowsOf);
  await appendRows(tx, rows.sort((one, other) => one.timeMs - other.timeMs));
}

function rowsOf({ repo, actor, timesMs: [firstMs, ...otherMs], ...told }: PullNote): OutboxRow[] {
  if (firstMs === undefined) return [];
  const row = { type: TYPE, subject: repo, group: parentOf(repo), target: "", actor: actorOf(actor) };
  const body = bodyOf(RegistryPullSchema, create(RegistryPullSchema, { ...told, repoId: repo, when: timestamp(firstMs) }));
  // A quotation mark within a text has a backslash before it: this is the field. All its times are of one length.
  const at = body.indexOf(WHEN) + WHEN.length;
  const [head, tail] = [body.slice(0, at), body.slice(body.indexOf('"', at))];
  const rowAt = (timeMs: number): OutboxRow => ({ ...row, id: randomUUID(), timeMs, body: head + new Date(timeMs).toISOString() + tail });
  return [{ ...row, id: randomUUID(), timeMs: firstMs, body }, ...otherMs.map(rowAt)];
}

export const pullCommands = { "events.notePulls": notePulls };

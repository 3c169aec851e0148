import { type Names, namesOf } from "../api/names.ts";
import { openRest, type RestClient } from "../api/rest.ts";
import type { ServerFlags } from "../command/global-options.ts";
import type { OutputFlags } from "../output/output.ts";

/** The flags of every task. */
export type TaskFlags = ServerFlags & OutputFlags;

/** What a task works with. */
export interface Session {
  rest: RestClient;
  names: Names;
}

/** The server of the flags, and names on it. */
export async function openSession(flags: ServerFlags): Promise<Session> {
  const rest = await openRest(flags);
  return { rest, names: namesOf(rest) };
}

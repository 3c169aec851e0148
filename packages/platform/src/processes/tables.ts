import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * The processes that serve the installation, with the version of their program and the schema version that it works
     * with. `until_time`: until when the row holds unless it is renewed, in milliseconds of the agreed time.
     */
    processes: { id: string; version: string; schema: number; until_time: number };
  }
}

export const PROCESS_TABLES = declareTables({
  processes: { key: ["id"], isLive: true },
});

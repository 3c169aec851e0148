import type { Tasks } from "./index.ts";
export const EVENT_TASKS: Tasks = { names: [], add() {} };

// The `moorage-keyring` program.
import { answerPip } from "./keyring-process.ts";

await answerPip();

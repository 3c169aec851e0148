// The one file that is `moorage-keyring` alone.
import "./older-node.ts";
import { answerPip } from "../credential/keyring-process.ts";

void answerPip();

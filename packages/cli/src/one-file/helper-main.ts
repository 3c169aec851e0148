// The one file that is `docker-credential-moorage` alone.
import "./older-node.ts";
import { answerClient } from "../credential/client.ts";

void answerClient();

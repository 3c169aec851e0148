// The `docker-credential-moorage` command.
import { answerClient } from "./client.ts";

await answerClient();

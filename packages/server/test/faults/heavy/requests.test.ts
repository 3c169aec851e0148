import { HEAVY } from "../../support/heavy/inputs.ts";
import { playHeavy } from "../../support/heavy/play.ts";

playHeavy(HEAVY.requests);

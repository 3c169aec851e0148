#!/usr/bin/env node
import { launch } from "./launch.js";

await launch("credential/keyring-main");

// What coding and adjudication need; every module looks for its own data-attributes.
import "./answered.js";
import "./applicability.js";
import "./cluster.js";
import "./codebook.js";
import "./countdown.js";
import "./counter.js";
import "./decision.js";
import "./drafts.js";
import "./expand.js";
import "./focus.js";
import "./hotkeys.js";
import "./idle.js";
import "./jump.js";
import "./leave.js";
import "./local-time.js";
import "./mended.js";
import "./popover.js";
import "./scale.js";
import "./session.js";
import "./submit.js";
// Last: a form that another module takes over is none of its business.
import "./once.js";

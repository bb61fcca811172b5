/* The log, the lease, the cursor of deliveries, the checkpoint's pointer and the trim of a site on several nodes.
 *
 * run: spin -a cluster.pml && gcc -O2 -DSAFETY -DCOLLAPSE -DVECTORSZ=2048 -w -o pan pan.c && ./pan -m2000000
 * A fault: spin -DNO_DEDUPE -a cluster.pml, the rest alike; an assertion is violated, and spin -t -p -DNO_DEDUPE cluster.pml shows how.
 *
 * With 2 inputs, 1 repeat, 3 tenures and 1 end: 23,613,812 states, no error, 27 s, 1.1 GB (spin 6.5.2).
 *
 * Two nodes apply the log, may hold the lease, pause at any step (a process that is not scheduled) and go on later believing that they
 * still hold it, and may end at any step and start again from what their journal and the checkpoint have. A publisher may publish
 * an input twice, when its acknowledgement was lost, and may end. What is acknowledged is assumed to be in the log for good and at
 * one place on all replicas; -DREPLICA_DEDUPE drops the last assumption.
 *
 * Asserted:
 *   A1  a node that has applied the whole log has every acknowledged input, from the log or from the checkpoint;
 *   A2  an input has one event, with the same number on every node and in every life of a node;
 *   A3  the cursor passes no event that was not delivered, and does not go back;
 *   A4  each change of the lease's holder causes at most WINDOW repeated deliveries;
 *   A5  the log begins at or before the message behind the checkpoint that the pointer names;
 *   A6  what is trimmed is in the journals of both nodes.
 *
 * Faults, each a define, with the assertion that it violates:
 *   NO_DEDUPE        the nodes apply a repeated input again                                       A2
 *   REPLICA_DEDUPE   each replica of the log recognises repeats by its own memory, which it may lose   A2
 *   ACK_FIRST        a node answers before the log has the input                                  A1
 *   CURSOR_FIRST     the cursor is written before the delivery                                    A3
 *   BLIND_CURSOR     the cursor is written without compare-and-set                                A3
 *   NO_TENURE        a holder whose compare-and-set lost reads again and goes on                  A4
 *   BLIND_POINTER    the pointer is written without compare-and-set                               A5
 *   TRIM_FIRST       the log is trimmed before the pointer names the checkpoint                   A5
 *   NO_CONFIRM       the trim does not wait for the other node's journal                          A6
 *   LOST_UPDATE      the store lets two compare-and-sets of one revision succeed, for the lease and the cursor (nats-server
 *                    2.9.10 with three replicas, by Nats-Expected-Last-Subject-Sequence)            A4
 */

#ifndef INPUTS
#define INPUTS 2
#endif
#ifndef TENURES
#define TENURES 3       /* changes of the holder */
#endif
#ifndef ENDS
#define ENDS 1          /* ends of nodes, together */
#endif
#ifndef WINDOW
#define WINDOW 1        /* deliveries that were made and are not in the cursor */
#endif
#define REPEATS 1       /* inputs that are published again */
#define LENGTH (INPUTS + REPEATS + 1)
#define BIT(i) (1 << (i))

/* The log of each replica: node n reads replica n; without REPLICA_DEDUPE both are one. */
typedef Log { byte input[LENGTH]; byte last; }
Log log[2];
byte first = 1;                       /* the first sequence that is not trimmed */
byte acknowledged = 0;                /* inputs, as bits */
byte number[INPUTS + 1];              /* the number of an input's event, by the first node that gave one */
byte delivered[INPUTS + 2];           /* how often each event was delivered */
byte repeated = 0;

/* The entries of the bucket: the lease, the cursor and the pointer, each with its revision. */
byte leaseTenure = 0;
byte cursor = 0, cursorTenure = 0, cursorRevision = 0;
byte pointer = 0, pointerSeen = 0, pointerEvents = 0, pointerRevision = 0;
#ifdef LOST_UPDATE
byte cursorBefore = 255, leaseBefore = 255;  /* the revision that the last update replaced: a second one may still succeed */
#endif

byte durable[2];                      /* the sequence up to which a node's journal has events */
byte durableSeen[2], durableEvents[2];
byte ends = 0;

inline store(i) {
  d_step {
#ifdef REPLICA_DEDUPE
    log[0].last++; log[0].input[log[0].last] = i;
#else
    log[0].last++; log[0].input[log[0].last] = i;
    log[1].last++; log[1].input[log[1].last] = i;
#endif
  }
#ifdef REPLICA_DEDUPE
  /* The other replica recognises a repeat only if it has not lost its memory. */
  if
  :: log[1].last++; log[1].input[log[1].last] = i
  :: isRepeat -> skip
  fi
#endif
}

proctype Publisher() {
  byte i = 1, repeats = 0;
  bool isRepeat = false;
  do
  :: i > INPUTS -> break
  :: i <= INPUTS ->
#ifdef ACK_FIRST
     acknowledged = acknowledged | BIT(i);
#endif
     if
     :: store(i);
        if
        :: atomic { acknowledged = acknowledged | BIT(i); i++; isRepeat = false }
        :: atomic { repeats < REPEATS -> repeats++; isRepeat = true }   /* the acknowledgement is lost */
        fi
     :: atomic { !isRepeat -> i++ }                                     /* it ends before the log has the input */
     fi
  od
}

#define holds (tenure > 0)

/* The end of a process at this point: what is not in the journal is lost. */
#define MAY_END if :: atomic { ends < ENDS -> ends++; goto start } :: skip fi

proctype Node(byte me) {
  byte applied, seen, events;          /* the engine */
  byte tenure, position, revision;     /* what it believes of the lease and the cursor; tenure 0: it holds nothing */
  byte read, made, madeSeen, madeEvents, input;

start:
  atomic {
    tenure = 0; position = 0; revision = 0; read = 0; made = 0; madeSeen = 0; madeEvents = 0;
    applied = durable[me]; seen = durableSeen[me]; events = durableEvents[me];
  }
again:
  /* Behind the log: from the checkpoint, and its journal is filled from the other node, which A6 makes possible. */
  if
  :: d_step { applied + 1 < first ->
       made = pointer; madeSeen = pointerSeen; madeEvents = pointerEvents }
     /* The checkpoint is read while others go on; a trim in between is found when the log is opened. */
     if
     :: d_step { made + 1 >= first ->
          applied = made; seen = madeSeen; events = madeEvents;
          durable[me] = made; durableSeen[me] = seen; durableEvents[me] = events;
          made = 0; madeSeen = 0; madeEvents = 0 }
     :: d_step { made + 1 < first ->
          assert(pointer != made);                                            /* A5 */
          made = 0; madeSeen = 0; madeEvents = 0 }
        goto again
     fi
  :: else
  fi;

end:
  do
  /* Applies the next message. */
  :: d_step { applied < log[me].last && applied + 1 >= first ->
       applied++;
       input = log[me].input[applied];
       if
#ifndef NO_DEDUPE
#ifndef REPLICA_DEDUPE
       :: (seen & BIT(input)) != 0 -> skip
#endif
#endif
       :: else ->
          events++; seen = seen | BIT(input);
          if
          :: number[input] == 0 -> number[input] = events
          :: else -> assert(number[input] == events)                          /* A2 */
          fi
       fi;
       assert(applied < log[me].last || (acknowledged & ~seen) == 0);         /* A1 */
       input = 0
     }
  /* Its journal is written. */
  :: d_step { durable[me] < applied ->
       durable[me] = applied; durableSeen[me] = seen; durableEvents[me] = events }
  /* It ends. */
  :: atomic { ends < ENDS -> ends++; goto start }

  /* The lease has expired, as far as this node knows: it reads it and compares when it writes. */
  :: atomic { !holds && leaseTenure < TENURES -> read = leaseTenure }
     if
     :: atomic { leaseTenure == read -> 
#ifdef LOST_UPDATE
          leaseBefore = read;
#endif
          leaseTenure++; tenure = leaseTenure; read = 0 }
#ifdef LOST_UPDATE
     :: atomic { leaseTenure == read + 1 && leaseBefore == read -> leaseBefore = 255; tenure = leaseTenure; read = 0 }
#endif
     :: atomic { leaseTenure != read -> read = 0 }
     fi;
     if
     :: holds -> d_step { position = cursor; revision = cursorRevision }
     :: else
     fi

  /* The holder delivers the event behind the cursor, and then writes the cursor. */
  :: atomic { holds && position < durableEvents[me] ->
       assert(position == 0 || delivered[position] > 0) }                     /* A3: none passed */
#ifndef CURSOR_FIRST
     d_step { if :: delivered[position + 1] > 0 -> repeated++ :: else fi; delivered[position + 1]++;
       assert(repeated <= WINDOW * leaseTenure + ends) }                       /* A4 */
     MAY_END;
#endif
     if
#ifdef BLIND_CURSOR
     :: true ->
        d_step {
#else
     :: atomic { cursorRevision == revision && cursorTenure <= tenure ->
#ifdef LOST_UPDATE
          cursorBefore = revision;
#endif
#endif
          assert(position + 1 > cursor);                                      /* A3: not back */
          cursor = position + 1; cursorTenure = tenure; cursorRevision++;
#ifndef CURSOR_FIRST
          assert(delivered[cursor] > 0);                                      /* A3: none passed */
#endif
          position = cursor; revision = cursorRevision
        }
#ifdef LOST_UPDATE
     :: atomic { cursorRevision == revision + 1 && cursorBefore == revision -> cursorBefore = 255;
          assert(position + 1 >= cursor); cursor = position + 1; cursorTenure = tenure; position = cursor;
          revision = cursorRevision }
#endif
#ifndef BLIND_CURSOR
     :: atomic { cursorRevision != revision || cursorTenure > tenure ->
#ifndef NO_TENURE
          /* A later holder has written: this one holds nothing. One that was before it only lost the race. */
          if
          :: cursorTenure > tenure -> tenure = 0; position = 0; revision = 0
          :: else -> position = cursor; revision = cursorRevision
          fi
#else
          position = cursor; revision = cursorRevision
#endif
        }
#endif
     fi
#ifdef CURSOR_FIRST
     MAY_END;
     if
     :: atomic { holds && position > 0 -> delivered[position]++ }
     :: else
     fi
#endif

  /* The holder stores a checkpoint, names it by the pointer and trims the log behind it. */
  :: atomic { holds && applied > pointer && durable[me] == applied ->
       made = applied; madeSeen = seen; madeEvents = events; read = pointerRevision }
#ifdef TRIM_FIRST
     atomic { durable[0] >= made && durable[1] >= made ->
       if :: first < made + 1 -> first = made + 1 :: else fi;
       assert(first <= pointer + 1) }                                         /* A5 */
#endif
     MAY_END;
     if
#ifdef BLIND_POINTER
     :: true ->
        d_step {
#else
     :: d_step { pointerRevision == read && made > pointer ->
#endif
          pointer = made; pointerSeen = madeSeen; pointerEvents = madeEvents; pointerRevision++;
          assert(first <= pointer + 1) }                                      /* A5 */
#ifndef BLIND_POINTER
     :: d_step { pointerRevision != read || made <= pointer -> made = 0 }
#endif
     fi;
     MAY_END;
     if
#ifdef NO_CONFIRM
     :: made > 0 ->
#else
     :: made > 0 && durable[1 - me] >= made ->
#endif
        MAY_END;
        d_step {
          if :: first < made + 1 -> first = made + 1 :: else fi;
          assert(first <= pointer + 1);                                       /* A5 */
          assert(durable[0] >= made && durable[1] >= made) }                  /* A6 */
     :: skip                                                                  /* not yet; a later checkpoint trims */
     fi;
     d_step { made = 0; madeSeen = 0; madeEvents = 0; read = 0 }
  od
}

init {
  atomic { run Publisher(); run Node(0); run Node(1) }
}

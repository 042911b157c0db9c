/*
   What -citations prints: the papers of the algorithms that solve, and of the ordering. What this project made up itself cites nobody.
*/
#include "impl.h"

static const char capellini[] = "@inproceedings{CapelliniSpTRSV,\n"
                                "  author    = {Jiya Su and Feng Zhang and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and Rujia Wang},\n"
                                "  title     = {{CapelliniSpTRSV}: A Thread-Level Synchronization-Free Sparse Triangular Solve on {GPU}s},\n"
                                "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n"
                                "  year      = {2020}\n"
                                "}\n";

static const char syncfree[] = "@inproceedings{SyncFreeSpTRSV,\n"
                               "  author    = {Weifeng Liu and Ang Li and Jonathan Hogg and Iain S. Duff and Brian Vinter},\n"
                               "  title     = {A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves},\n"
                               "  booktitle = {Euro-Par 2016: Parallel Processing},\n"
                               "  series    = {LNCS},\n"
                               "  volume    = {9833},\n"
                               "  year      = {2016}\n"
                               "}\n";

static const char syncfree_csr[] = "@inproceedings{DufrechouEzzatti2018,\n"
                                   "  author    = {Ernesto Dufrechou and Pablo Ezzatti},\n"
                                   "  title     = {Solving Sparse Triangular Linear Systems in Modern {GPU}s: A Synchronization-Free Algorithm},\n"
                                   "  booktitle = {26th Euromicro International Conference on Parallel, Distributed and Network-based Processing (PDP)},\n"
                                   "  year      = {2018}\n"
                                   "}\n";

static const char level_sets[] = "@article{AndersonSaad1989,\n"
                                 "  author  = {Edward Anderson and Yousef Saad},\n"
                                 "  title   = {Solving Sparse Triangular Linear Systems on Parallel Computers},\n"
                                 "  journal = {International Journal of High Speed Computing},\n"
                                 "  year    = {1989}\n"
                                 "}\n";

static const char yuenyeung[] = "@article{YuenyeungSpTRSV,\n"
                                "  author  = {Feng Zhang and Jiya Su and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and Rujia Wang},\n"
                                "  title   = {{YuenyeungSpTRSV}: A Thread-Level and Warp-Level Fusion Synchronization-Free Sparse Triangular Solve},\n"
                                "  journal = {IEEE Transactions on Parallel and Distributed Systems},\n"
                                "  year    = {2021}\n"
                                "}\n";

static const char ag[] = "@article{AGSpTRSV,\n"
                         "  author  = {Zhengding Hu and Jingwei Sun and Zhongyang Li and Guangzhong Sun},\n"
                         "  title   = {{AG-SpTRSV}: An Automatic Framework to Optimize Sparse Triangular Solve on {GPU}s},\n"
                         "  journal = {ACM Transactions on Architecture and Code Optimization},\n"
                         "  volume  = {21},\n"
                         "  number  = {4},\n"
                         "  year    = {2024}\n"
                         "}\n";

static const char recblock[] = "@inproceedings{RecBlockSpTRSV,\n"
                               "  author    = {Zhengyang Lu and Yuyao Niu and Weifeng Liu},\n"
                               "  title     = {Efficient Block Algorithms for Parallel Sparse Triangular Solve},\n"
                               "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n"
                               "  year      = {2020}\n"
                               "}\n";

static const char dense_triangles[] = "@misc{DenseLowerTriangularSolver,\n"
                                      "  title = {Dense Lower Triangular Solver: {GPU} Simple, {GPU} Complex 1 and {GPU} Complex 2},\n"
                                      "  note  = {Course report; its authors are not named}\n"
                                      "}\n";

static const char block_multicolor[] = "@inproceedings{IwashitaNakashimaTakahashi2012,\n"
                                        "  author    = {Takeshi Iwashita and Hiroshi Nakashima and Yasuhito Takahashi},\n"
                                        "  title     = {Algebraic Block Multi-Color Ordering Method for Parallel Multi-Threaded Sparse Triangular Solver in {ICCG} Method},\n"
                                        "  booktitle = {26th IEEE International Parallel and Distributed Processing Symposium (IPDPS)},\n"
                                        "  year      = {2012}\n"
                                        "}\n"
                                        "@article{IwashitaLiFukaya2020,\n"
                                        "  author  = {Takeshi Iwashita and Senxi Li and Takeshi Fukaya},\n"
                                        "  title   = {Hierarchical Block Multi-Color Ordering: A New Parallel Ordering Method for Vectorization and Parallelization of the Sparse Triangular Solver in the {ICCG} Method},\n"
                                        "  journal = {CCF Transactions on High Performance Computing},\n"
                                        "  year    = {2020}\n"
                                        "}\n";

static const char inverted_blocks[] = "@article{AlvaradoSchreiber1993,\n"
                                      "  author  = {Fernando L. Alvarado and Robert Schreiber},\n"
                                      "  title   = {Optimal Parallel Solution of Sparse Triangular Systems},\n"
                                      "  journal = {SIAM Journal on Scientific Computing},\n"
                                      "  volume  = {14},\n"
                                      "  number  = {2},\n"
                                      "  year    = {1993}\n"
                                      "}\n";

static struct {
  const char *name, *cite; /* of an algorithm, or an ordering */
  PetscBool   set;
} papers[] = {
  {"thread",   capellini,    PETSC_FALSE},
  {"twophase", capellini,    PETSC_FALSE},
  {"fusion",   yuenyeung,    PETSC_FALSE},
  {"warp",     syncfree_csr, PETSC_FALSE},
  {"csc",      syncfree,     PETSC_FALSE},
  {"level",    level_sets,   PETSC_FALSE},
  {"ag",       ag,           PETSC_FALSE},
  {"recblock", recblock,     PETSC_FALSE},
  {"dense",    dense_triangles, PETSC_FALSE},
  {"inverse",  inverted_blocks, PETSC_FALSE},
  {"sell",     block_multicolor, PETSC_FALSE},
  {MATORDERINGMULTICOLOR, block_multicolor, PETSC_FALSE},
};

static PetscErrorCode Cite(const char *name)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(papers); i++) {
    PetscBool is;

    PetscCall(PetscStrcmp(name, papers[i].name, &is));
    if (!is || papers[i].set) continue;
    PetscCall(PetscCitationsRegister(papers[i].cite, NULL));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(papers); k++)
      if (papers[k].cite == papers[i].cite) papers[k].set = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc does at PetscFinalize(). */
void SpTRSVGPUCitationsForget(void)
{
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(papers); i++) papers[i].set = PETSC_FALSE;
}

PetscErrorCode SpTRSVGPUCiteOrdering(void)
{
  PetscFunctionBegin;
  PetscCall(Cite(MATORDERINGMULTICOLOR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the plans of a pair, NULL where PETSc's own solves serve; for the PC type that is named after a paper, also where it solves on the host. */
PetscErrorCode SpTRSVGPUCite(const TrsvPair *pair, PetscBool thread)
{
  PetscFunctionBegin;
  if (pair) {
    PetscCall(Cite(TrsvAlgorithmName(pair->forward.algorithm)));
    PetscCall(Cite(TrsvAlgorithmName(pair->backward.algorithm)));
  }
  if (thread) PetscCall(Cite("thread"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
